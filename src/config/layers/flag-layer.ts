import { environmentTable } from "./environment-table.ts";
import { readForm } from "./environment-layer.ts";
import type { Layer } from "./layer.ts";
import { nest } from "./settings-keys.ts";

/** Values from the command line by key path, as the file would hold them or as text; undefined: not given. */
export type ConfigFlags = Readonly<Record<string, unknown>>;

/** Where on the command line a value was given. */
const onCommandLine = (): string => "command-line flag";

/** Settings from the command line or a program, which says where each was given. */
export function flagLayer(flags: ConfigFlags, placeOf: Layer["placeOf"] = onCommandLine): Layer {
  const rows = Object.values(environmentTable);
  const values = Object.entries(flags).map(([key, value]) => {
    const row = rows.find((candidate) => candidate.key === key);
    return [key, typeof value === "string" && row !== undefined ? (readForm(value, row) ?? value) : value] as const;
  });
  return { source: "flag", content: nest(values), placeOf };
}
