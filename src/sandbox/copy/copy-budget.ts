import { formatBytes } from "../../base/bytes.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";

/** The limits of one copy. */
export interface CopyLimits {
  /** Of all files together; default 1 GiB. */
  readonly maxBytes?: number | undefined;
  /** Files, folders and links; default 100,000. */
  readonly maxEntries?: number | undefined;
}

const defaultBytes = 1024 ** 3;
const defaultEntries = 100_000;
/** Maximum names in a warning. */
const maxNames = 10;

/** Counts what a copy transfers and what it skips. */
export class CopyBudget {
  readonly #maxBytes: number;
  readonly #maxEntries: number;
  readonly #skipped = new Map<string, { readonly names: string[]; count: number }>();
  #bytes = 0;
  #entries = 0;

  constructor({ maxBytes = defaultBytes, maxEntries = defaultEntries }: CopyLimits) {
    this.#maxBytes = maxBytes;
    this.#maxEntries = maxEntries;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get entries(): number {
    return this.#entries;
  }

  /** Counts an entry before any of it is copied; its bytes are counted as they come. @throws POLICY_DENIED */
  take(expectedBytes: number): void {
    this.#entries += 1;
    this.#assertRoom(expectedBytes);
    if (this.#entries > this.#maxEntries) throw tooMuch(`${this.#maxEntries} entries`, "max_entries", "--max-entries");
  }

  /** Counts bytes before they are written. @throws POLICY_DENIED */
  arrive(bytes: number): void {
    this.#assertRoom(bytes);
    this.#bytes += bytes;
  }

  /** Notes an entry that is not copied. It counts too, so that the work has a limit. @throws POLICY_DENIED */
  skip(path: string, why: string): void {
    this.take(0);
    const skipped = this.#skipped.get(why) ?? { names: [], count: 0 };
    skipped.count += 1;
    if (skipped.names.length < maxNames) skipped.names.push(path);
    this.#skipped.set(why, skipped);
  }

  /** What was skipped, one sentence for each reason. */
  get warnings(): readonly string[] {
    return [...this.#skipped].map(([why, { names, count }]) => {
      const shown = names.map((name) => JSON.stringify(name.slice(0, 200)));
      const rest = count > names.length ? ` and ${count - names.length} more` : "";
      return `Left out, ${why}: ${shown.join(", ")}${rest}.`;
    });
  }

  #assertRoom(bytes: number): void {
    if (this.#bytes + bytes > this.#maxBytes) throw tooMuch(formatBytes(this.#maxBytes), "max_bytes", "--max-size");
  }
}

function tooMuch(most: string, field: string, option: string): GloveboxError {
  return new GloveboxError("POLICY_DENIED", `There is more to copy than ${most}; what was copied until then stays.`, {
    suggestion: `Copy less, or raise the limit (${option}, field ${field}).`,
    context: { field },
  });
}
