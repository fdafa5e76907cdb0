import type { ContainerStats } from "../../engines/container-stats.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";

/** Until the first look; each further one waits twice as long as the one before. */
const firstLookMs = 20;
const maxBetweenLooksMs = 1_000;

/** Memory of a sandbox that lives longer than its programs, while one of them runs: until it is disposed of. */
export class MemoryUse implements Disposable {
  readonly #sandbox: Pick<Sandbox, "measure">;
  readonly #before: ContainerStats;
  #seenBytes: number | null = null;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;

  /** `before`: numbers of the sandbox before the program started. */
  constructor(sandbox: Pick<Sandbox, "measure">, before: ContainerStats) {
    this.#sandbox = sandbox;
    this.#before = before;
    this.#lookIn(firstLookMs);
  }

  /**
   * The highest use while the program ran: the kernel's peak where it rose meanwhile, which it keeps for the whole life of
   * a sandbox, otherwise the highest that was seen; null where none was.
   */
  peakBytes({ memoryPeakBytes: peak }: ContainerStats): number | null {
    const { memoryPeakBytes: former, memoryBytes } = this.#before;
    // No numbers at all do not mean that there was no peak.
    const isKnown = former !== null || memoryBytes !== null;
    return peak !== null && isKnown && peak > (former ?? 0) ? peak : this.#seenBytes;
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  #lookIn(delayMs: number): void {
    this.#timer = setTimeout(() => void this.#look(delayMs), delayMs).unref();
  }

  async #look(delayMs: number): Promise<void> {
    const bytes = await this.#sandbox.measure().then(
      ({ memoryBytes }) => memoryBytes,
      // It is ending: whoever judges the run finds that out.
      () => null,
    );
    if (this.#isOver) return;
    if (bytes !== null) this.#seenBytes = Math.max(this.#seenBytes ?? 0, bytes);
    this.#lookIn(Math.min(2 * delayMs, maxBetweenLooksMs));
  }
}
