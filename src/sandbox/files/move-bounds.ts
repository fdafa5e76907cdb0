import { gibibyte } from "../../base/bytes.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { throwIfCancelled } from "../../base/abort.ts";

export interface MoveLimits {
  /** Entries that one call looks at. */
  readonly maxEntries: number;
  /** Bytes that it reads or writes. */
  readonly maxBytes: number;
  /** How long it may take; a program that adds to what is read does not keep it going. */
  readonly maxMs: number;
}

/** Of single files and listings. */
export const fileLimits: MoveLimits = { maxEntries: 100_000, maxBytes: gibibyte, maxMs: 60_000 };
/** Of whole trees, which their readers bound more closely. */
export const treeLimits: MoveLimits = { maxEntries: 1_000_000, maxBytes: 64 * gibibyte, maxMs: 600_000 };

/** Folders in folders that one call goes down: as deep as a path can be that has names of one letter. */
const maxDepth = 2_048;
/** The same where each folder on the way is held open. */
export const maxOpenDepth = 255;

/** What one call on a sandbox's files comes to. */
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

  /** Before an entry is looked at, so many folders down. @throws POLICY_DENIED, TIMEOUT, CANCELLED */
  enter(depth: number): void {
    this.check();
    this.#entries += 1;
    const { maxEntries } = this.#limits;
    if (this.#entries > maxEntries) throw this.#tooMuch(`more than ${maxEntries} entries`);
    if (depth > this.#maxDepth) throw this.#tooMuch(`more than ${this.#maxDepth} folders in folders`);
  }

  /** Before bytes are passed on. @throws POLICY_DENIED, TIMEOUT, CANCELLED */
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
