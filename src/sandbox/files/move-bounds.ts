import { gibibyte } from "../../base/bytes.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { throwIfCancelled } from "../../base/abort.ts";

export interface MoveLimits {
  /** Maximum entries that one call looks at. */
  readonly maxEntries: number;
  /** Maximum bytes that it reads or writes. */
  readonly maxBytes: number;
  /** Maximum duration, so that a program that keeps adding data cannot keep it going. */
  readonly maxMs: number;
}

/** For single files and listings. */
export const fileLimits: MoveLimits = { maxEntries: 100_000, maxBytes: gibibyte, maxMs: 60_000 };
/** For whole trees, which their readers limit further. */
export const treeLimits: MoveLimits = { maxEntries: 1_000_000, maxBytes: 64 * gibibyte, maxMs: 600_000 };

/** Maximum depth for one call: as deep as a path with names of one letter can be. */
const maxDepth = 2_048;
/** The same if each folder on the path is held open. */
export const maxOpenDepth = 255;

/** Counts what one call on a sandbox's files does. */
export class MoveBounds {
  readonly #path: string;
  readonly #limits: MoveLimits;
  readonly #maxDepth: number;
  readonly #signal: AbortSignal | undefined;
  readonly #late: AbortSignal;
  #entries = 0;
  #bytes = 0;

  /** `path`: what the call is about, as its caller names it. */
  constructor(
    path: string,
    limits: MoveLimits,
    { signal, depth = maxDepth }: { readonly signal?: AbortSignal | undefined; readonly depth?: number },
  ) {
    this.#path = path;
    this.#limits = limits;
    this.#maxDepth = depth;
    this.#signal = signal;
    this.#late = AbortSignal.timeout(limits.maxMs);
  }

  /** Called before looking at an entry at the given depth. @throws POLICY_DENIED, TIMEOUT, CANCELLED */
  enter(depth: number): void {
    this.check();
    this.#entries += 1;
    const { maxEntries } = this.#limits;
    if (this.#entries > maxEntries) throw this.#tooMuch(`more than ${maxEntries} entries`);
    if (depth > this.#maxDepth) throw this.#tooMuch(`more than ${this.#maxDepth} folders in folders`);
  }

  /** Called before bytes are passed on. @throws POLICY_DENIED, TIMEOUT, CANCELLED */
  pass(bytes: number): void {
    this.check();
    this.#bytes += bytes;
    if (this.#bytes > this.#limits.maxBytes) throw this.#tooMuch(`more than ${this.#limits.maxBytes} bytes`);
  }

  /** @throws TIMEOUT, CANCELLED */
  check(): void {
    throwIfCancelled(this.#signal);
    if (!this.#late.aborted) return;
    const seconds = this.#limits.maxMs / 1000;
    throw new GloveboxError("TIMEOUT", `${JSON.stringify(this.#path)} was not read or written in ${seconds} s.`, {
      suggestion: "End what writes there in the sandbox, or take a smaller part.",
      context: { path: this.#path },
    });
  }

  #tooMuch(what: string): GloveboxError {
    return new GloveboxError("POLICY_DENIED", `${JSON.stringify(this.#path)} has ${what}.`, {
      suggestion: "Take a smaller part.",
      context: { path: this.#path },
    });
  }
}
