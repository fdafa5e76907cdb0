import { GloveboxError } from "../../../errors/glovebox-error.ts";
import { throwIfCancelled } from "../../../base/abort.ts";

/** Entries that one call looks at, and folders in folders that it goes down. */
const maxEntries = 100_000;
const maxDepth = 255;
/** Bytes that one call reads or writes. */
export const maxBytes: number = 1024 ** 3;
/** How long one call may take; a program that adds to what is read does not keep it going. */
const maxMs = 60_000;

/** What one call on a sandbox's folders comes to. */
export class HostBounds {
  readonly #path: string;
  readonly #signal: AbortSignal | undefined;
  readonly #late: AbortSignal = AbortSignal.timeout(maxMs);
  #entries = 0;
  #bytes = 0;

  /** `path`: what the call is about, as its caller names it. */
  constructor(path: string, signal: AbortSignal | undefined) {
    this.#path = path;
    this.#signal = signal;
  }

  /** Before an entry is looked at, so many folders down. @throws POLICY_DENIED, TIMEOUT, CANCELLED */
  enter(depth: number): void {
    this.check();
    this.#entries += 1;
    if (this.#entries > maxEntries) throw this.#tooMuch(`more than ${maxEntries} entries`);
    if (depth > maxDepth) throw this.#tooMuch(`more than ${maxDepth} folders in folders`);
  }

  /** Before bytes are passed on. @throws POLICY_DENIED, TIMEOUT, CANCELLED */
  pass(bytes: number): void {
    this.check();
    this.#bytes += bytes;
    if (this.#bytes > maxBytes) throw this.#tooMuch(`more than ${maxBytes} bytes`);
  }

  /** @throws TIMEOUT, CANCELLED */
  check(): void {
    throwIfCancelled(this.#signal);
    if (!this.#late.aborted) return;
    throw new GloveboxError("TIMEOUT", `${JSON.stringify(this.#path)} was not read or written in ${maxMs / 1000} s.`, {
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
