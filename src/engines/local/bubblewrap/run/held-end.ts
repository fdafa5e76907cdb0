import { setTimeout as sleep } from "node:timers/promises";
import { familyOf, innerNumberOf } from "./process-family.ts";

/** What a program has started gets as long to end in order as the program itself (SPEC LI3). */
const holdMs = 750;
const lookMs = 10;

export interface HeldEndOptions {
  /** The sandbox's first process; null when it has ended. */
  readonly first: () => number | null;
  /** Number of the program in its namespace. */
  readonly programNumber: number;
}

/**
 * Keeps a sandbox from ending together with its program: the first process is stopped from outside, where programs
 * cannot prevent it, and goes on when nothing else is left or the time is over.
 */
export class HeldEnd {
  readonly #options: HeldEndOptions;
  #isHeld = false;

  constructor(options: HeldEndOptions) {
    this.#options = options;
  }

  /** Before it has started anything, there is nothing to wait for. */
  hold(): void {
    if (this.#isHeld || this.#family().length === 0) return;
    this.#isHeld = this.#signalFirst("SIGSTOP");
  }

  /** Lets go once nothing is left, or at the latest when the time is over. */
  async release(): Promise<void> {
    const over = AbortSignal.timeout(holdMs);
    while (this.#isHeld && !over.aborted && this.#family().length > 0) await sleep(lookMs);
    this.letGo();
  }

  /** True when the first process, held until now, ends by itself: its exit code is then the program's. */
  endsByItself(): boolean {
    if (!this.#isHeld || this.#family().some((id) => innerNumberOf(id) === this.#options.programNumber)) return false;
    return this.letGo();
  }

  letGo(): boolean {
    if (!this.#isHeld) return false;
    this.#isHeld = false;
    return this.#signalFirst("SIGCONT");
  }

  #family(): readonly number[] {
    const first = this.#options.first();
    return first === null ? [] : familyOf(first);
  }

  #signalFirst(signal: "SIGSTOP" | "SIGCONT"): boolean {
    const first = this.#options.first();
    try {
      return first !== null && process.kill(first, signal);
    } catch {
      // It has ended meanwhile.
      return false;
    }
  }
}
