/** How much an ended program can have left in all the buffers between it and the command. */
const maxLateBytes = 8 * 1024 * 1024;
/** How often we check, while it writes, whether it is still running. */
const askEveryMs = 100;

/**
 * The end of a program that writes. A guest then closes its streams even if others have them open; Docker would pass on for
 * two more seconds what others write.
 */
export class ExecEnd<State extends { readonly Running: boolean }> {
  readonly #ask: () => Promise<State>;
  #state: State | undefined;
  #left = Number.POSITIVE_INFINITY;
  #nextLook = Date.now() + askEveryMs;

  constructor(ask: () => Promise<State>) {
    this.#ask = ask;
  }

  /**
   * How it ended, once that was seen. It counts over any later answer: before version 28 Docker puts 126 in the place of
   * the exit code when it cannot pass on to a connection that was broken off.
   */
  get state(): State | undefined {
    return this.#state;
  }

  /** Whether this many more bytes can come from the program itself. */
  allows(bytes: number): boolean {
    if (Date.now() >= this.#nextLook) {
      this.#nextLook = Number.POSITIVE_INFINITY;
      void this.#look();
    }
    this.#left -= bytes;
    return this.#left > 0;
  }

  async #look(): Promise<void> {
    const state = await this.#ask().catch(() => undefined);
    if (state === undefined || state.Running) this.#nextLook = Date.now() + askEveryMs;
    else {
      this.#state = state;
      this.#left = maxLateBytes;
    }
  }
}
