import { cancelled } from "../base/abort.ts";

/** After this long a start that is still under way lets the next one begin beside it. */
const holdMs = 10_000;

/**
 * Lets sandboxes start in the order in which they came, so many at once on each engine: all of a burst at once would share
 * the processors, and all be ready late. A start that takes long holds up no other, and an engine that is stuck none of another engine.
 */
export class StartGate {
  readonly #atOnce: number;
  /** By the names of engines. */
  readonly #lanes = new Map<string, { underWay: number; readonly waiting: (() => void)[] }>();

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  /** Starts it when its turn comes. @throws CANCELLED, and what the start throws */
  async pass<T>(engine: string, signal: AbortSignal, start: () => Promise<T>): Promise<T> {
    const leave = await this.#enter(engine, signal);
    try {
      return await start();
    } finally {
      leave();
    }
  }

  /** Resolves when a start may begin, to what tells of its end; telling it twice does no harm. */
  async #enter(engine: string, signal: AbortSignal): Promise<() => void> {
    if (signal.aborted) throw cancelled(signal.reason);
    const lane = this.#lanes.get(engine) ?? { underWay: 0, waiting: [] };
    this.#lanes.set(engine, lane);
    if (lane.underWay >= this.#atOnce) await wait(lane.waiting, signal);
    else lane.underWay += 1;
    let isOver = false;
    const leave = (): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(late);
      const next = lane.waiting.shift();
      // Stays taken while it passes on, so that no newcomer slips in.
      if (next === undefined) lane.underWay -= 1;
      else next();
    };
    const late = setTimeout(leave, holdMs).unref();
    return leave;
  }
}

async function wait(waiting: (() => void)[], signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onAbort = (): void => {
    const index = waiting.indexOf(resolve);
    if (index === -1) return;
    waiting.splice(index, 1);
    reject(cancelled(signal.reason));
  };
  waiting.push(resolve);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    await promise;
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}
