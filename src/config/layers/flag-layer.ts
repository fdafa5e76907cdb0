import { environmentTable } from "./environment-table.ts";
import { readForm } from "./environment-layer.ts";
import type { Layer } from "./layer.ts";
import { nest } from "./settings-keys.ts";

/** Values from the command line by key path, as the file would hold them or as text; undefined: not given. */
export type ConfigFlags = Readonly<Record<string, unknown>>;

/** Where a value stands that the command line gives. */
const onCommandLine = (): string => "command-line flag";

/** What the command line or a program says, which tells where it stands there. */
export function flagLayer(flags: ConfigFlags, placeOf: Layer["placeOf"] = onCommandLine): Layer {
  const rows = Object.values(environmentTable);
  const values = Object.entries(flags).map(([key, value]) => {
    const row = rows.find((candidate) => candidate.key === key);
    return [key, typeof value === "string" && row !== undefined ? (readForm(value, row) ?? value) : value] as const;
  });
  return { source: "flag", content: nest(values), placeOf };
}
