import { GloveboxError } from "../errors/glovebox-error.ts";

/** Files whose setuid bit was removed. */
export interface ClearedFiles {
  readonly count: number;
  /** Some of their names, from the folder; a byte that is not ASCII is shown as one character. */
  readonly names: readonly string[];
}

export const setuidBit = 0o4000;

/** Each level takes two descriptors. */
const maxDepth = 200;
const maxNames = 5;
/** A change in progress during the look: the next look sees it. */
const changedMeanwhile: ReadonlySet<string> = new Set(["ENOENT", "ENOTDIR", "ELOOP"]);

/** Counts files whose bit was taken, and keeps a few of their names. */
export class ClearedNames {
  readonly #names: string[] = [];
  #count = 0;

  get files(): ClearedFiles {
    return { count: this.#count, names: this.#names };
  }

  add(names: readonly string[]): void {
    this.#count += 1;
    if (this.#names.length < maxNames) this.#names.push(names.join("/"));
  }

  /** @throws POLICY_DENIED for folders too deep to follow */
  assertDepth(depth: number): void {
    if (depth <= maxDepth) return;
    throw new GloveboxError(
      "POLICY_DENIED",
      `The project has folders inside each other more than ${maxDepth} deep, which cannot be watched for setuid files.`,
      {
        suggestion: "Use an engine and an OCI runtime that run on this machine's own kernel, or ask for read_only.",
        context: { rule: "too-deep" },
      },
    );
  }
}

/** Does the work, and nothing where what it works on has just been moved or exchanged. */
export async function unlessChanged(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!changedMeanwhile.has((error as NodeJS.ErrnoException).code ?? "")) throw error;
  }
}
