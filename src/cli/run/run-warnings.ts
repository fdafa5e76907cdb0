import type { ExecuteResponse } from "../../operations/execute/execute-contract.ts";
import { escapeLine } from "../output/terminal-escape.ts";

/**
 * A result's warnings, one line each, for people, who see nothing else of it: weak isolation, and what is enforced
 * weakly or not at all. Left out: what was already reported during the run (`told`), and where scratch is, unless its
 * size was requested.
 */
export function runWarnings(
  { warnings }: Pick<ExecuteResponse, "warnings">,
  { shown, namesDisk }: { readonly shown: ReadonlySet<string>; readonly namesDisk: boolean },
): string {
  return warnings
    .filter((warning) => !shown.has(warning) && (namesDisk || !warning.startsWith("scratch: ")))
    .map((warning) => `${escapeLine(`glovebox: ${warning}`)}\n`)
    .join("");
}
