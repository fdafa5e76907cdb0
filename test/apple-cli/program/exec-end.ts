/** What an ended program can have left in all the buffers between it and the command. */
const maxLateBytes = 8 * 1024 * 1024;
/** How often is asked whether it still runs, while it writes. */
const askEveryMs = 100;

/**
 * The end of a program that writes. The guest closes its streams then, whoever else has them open; Docker would pass on
 * for two more seconds what others write.
 */
export class ExecEnd {
  readonly #isRunning: () => Promise<boolean>;
  #left = Number.POSITIVE_INFINITY;
  #nextLook = Date.now() + askEveryMs;

  constructor(isRunning: () => Promise<boolean>) {
    this.#isRunning = isRunning;
  }

  /** Whether that many more bytes can be the program's own. */
  allows(bytes: number): boolean {
    if (Date.now() >= this.#nextLook) {
      this.#nextLook = Number.POSITIVE_INFINITY;
      void this.#look();
    }
    this.#left -= bytes;
    return this.#left > 0;
  }

  async #look(): Promise<void> {
    const isRunning = await this.#isRunning().catch(() => true);
    if (isRunning) this.#nextLook = Date.now() + askEveryMs;
    else this.#left = maxLateBytes;
  }
}
