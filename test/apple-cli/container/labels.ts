import { CommandError } from "../output/command-error.ts";

/** `k` or `k=v`; a value must not contain an equals sign. */
export function readLabels(labels: readonly string[]): Readonly<Record<string, string>> {
  const read: Record<string, string> = {};
  for (const label of labels) {
    if (label === "") throw new CommandError("invalidArgument", "label cannot be an empty string");
    const [key = "", value = "", ...more] = label.split("=");
    if (more.length > 0) throw new CommandError("invalidArgument", `invalid label format ${label}`);
    read[key] = value;
  }
  return read;
}
