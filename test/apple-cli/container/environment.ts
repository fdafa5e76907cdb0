import { readFileSync } from "node:fs";
import { CommandError } from "../output/command-error.ts";

type Lookup = Readonly<Record<string, string | undefined>>;

/** `K=V` unchanged; a bare `K` with the value from the caller's environment, or nothing if it is not set there. */
function readEntry(entry: string, own: Lookup): readonly string[] {
  if (entry.includes("=")) return [entry];
  const value = own[entry];
  return value === undefined ? [] : [`${entry}=${value}`];
}

function readFileEntries(path: string, own: Lookup): readonly string[] {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const reason = new CommandError("unknown", (error as Error).message);
    throw new CommandError("invalidArgument", `failed to read envfile at ${path}`, reason);
  }
  return text.split("\n").flatMap((line) => {
    const entry = line.trimStart();
    if (entry === "" || entry.startsWith("#")) return [];
    const name = entry.split("=", 1)[0] ?? "";
    if (name === "") throw new CommandError("invalidArgument", `no variable name on line '${line}'`);
    if (/\s/.test(name)) throw new CommandError("invalidArgument", `variable '${name}' contains whitespaces`);
    return readEntry(entry, own);
  });
}

/** Later entries replace earlier ones of the same name. */
export function mergeEnvironment(...lists: readonly (readonly string[])[]): readonly string[] {
  const merged = new Map(lists.flat().map((entry) => [entry.split("=", 1)[0] ?? "", entry]));
  return [...merged.values()];
}

/** The variables of `-e` and `--env-file`, files first. */
export function readEnvironment(entries: readonly string[], files: readonly string[], own: Lookup): readonly string[] {
  return mergeEnvironment(
    files.flatMap((file) => readFileEntries(file, own)),
    entries.flatMap((entry) => readEntry(entry, own)),
  );
}
