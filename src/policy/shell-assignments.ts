import { shellQuoted } from "../base/shell-quoted.ts";
import { environmentName } from "./request/environment.ts";

/**
 * Exported assignments for a shell to source, one after another; every byte of a value stays as it is, lines' ends and
 * quotes included (SPEC EN2). Names that a shell cannot assign are left out.
 */
export function shellAssignments(variables: Readonly<Record<string, string>>): string {
  return Object.entries(variables)
    .filter(([name]) => environmentName.test(name))
    .map(([name, value]) => `export ${name}=${shellQuoted(value)}\n`)
    .join("");
}
