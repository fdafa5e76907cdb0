/** How often the supervisor is asked, and how long it may be silent. */
export interface HeartbeatTimes {
  /** Time between two questions, in milliseconds. */
  readonly pingMs: number;
  /** Questions in a row that may stay without any answer. */
  readonly maxUnanswered: number;
}

export interface HeartbeatParts {
  readonly times: HeartbeatTimes;
  readonly ping: () => void;
  readonly onSilence: () => void;
}

/**
 * Asks the supervisor again and again, and notices that it does not answer. It counts questions, not time: time in which this
 * process itself was stopped counts once at most, as its timer then fires once.
 */
export class Heartbeat {
  readonly #parts: HeartbeatParts;
  #timer: NodeJS.Timeout | undefined;
  #unanswered = 0;
  #frozen = 0;

  constructor(parts: HeartbeatParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#timer ??= setInterval(() => this.#beat(), this.#parts.times.pingMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** The supervisor has answered a question. */
  answered(): void {
    this.#unanswered = 0;
  }

  /** Does not count while the work lasts: the sandbox is being paused by it. */
  async whileFrozen<T>(work: () => Promise<T>): Promise<T> {
    this.#frozen += 1;
    try {
      return await work();
    } finally {
      this.#frozen -= 1;
      this.#unanswered = 0;
    }
  }

  #beat(): void {
    const { times, ping, onSilence } = this.#parts;
    if (this.#frozen === 0 && this.#unanswered >= times.maxUnanswered) {
      const unanswered = this.#unanswered;
      // What came while this process was stopped is read first.
      setImmediate(() => {
        if (this.#unanswered === unanswered && this.#frozen === 0) onSilence();
      });
      return;
    }
    this.#unanswered += 1;
    ping();
  }
}
