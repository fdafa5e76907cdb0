import { runnerOption } from "../../runner-option.ts";

/** A command, apart from the text of the runner that it may begin with. */
export interface CommandWithRunner {
  /** Empty for none. */
  readonly runner: string;
  /** What stands after the interpreter's name. */
  readonly rest: readonly string[];
}

/** Takes the runner out of an interpreter's arguments. */
export function splitRunner(values: readonly string[]): CommandWithRunner {
  const [first = ""] = values;
  if (!first.startsWith(runnerOption)) return { runner: "", rest: values };
  return { runner: first.slice(runnerOption.length), rest: values.slice(1) };
}
