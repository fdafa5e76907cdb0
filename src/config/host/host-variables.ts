import { engineTable } from "../../engines/engine-table.ts";
import type { Environment } from "../layers/environment-layer.ts";

/** Variables that engines and their tools read for themselves. */
export const engineVariables: readonly string[] = [
  ...new Set(engineTable.flatMap(({ variables = [] }) => variables)),
  "XDG_RUNTIME_DIR",
  "HOME",
  "USERPROFILE",
  "TMPDIR",
  "TEMP",
  "TMP",
  "SystemRoot",
  "PATH",
];

/** Those of the named variables that the host has. */
export function pickVariables(environment: Environment, names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = Object.hasOwn(environment, name) ? environment[name] : undefined;
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
}
