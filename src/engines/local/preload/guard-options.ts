import { GloveboxError } from "../../../errors/glovebox-error.ts";

/** Which options of an interpreter leave its guard in place. */
export interface GuardedOptions {
  readonly interpreter: string;
  /** Options without a value. */
  readonly plain: ReadonlySet<string>;
  /** Options after which nothing is an option of the interpreter any more: the program, or its name, follows. */
  readonly last: ReadonlySet<string>;
}

/** @throws UNSUPPORTED for an option that could take the guard out */
export function checkOptions(values: readonly string[], { interpreter, plain, last }: GuardedOptions): void {
  for (const value of values) {
    if (!value.startsWith("-") || value === "-" || last.has(value)) return;
    if (plain.has(value)) continue;
    throw new GloveboxError(
      "UNSUPPORTED",
      `Option ${value} of ${interpreter} is not accepted at isolation level preload.`,
      {
        suggestion: "Leave the option out, or use an engine with containers.",
        context: { engine: "local", missing: "programs" },
      },
    );
  }
}
