import type { ExecuteResponse } from "../../operations/execute/execute-contract.ts";
import { escapeLine } from "../output/terminal-escape.ts";

/**
 * What a result warns of, a line each, for a person who sees nothing else of it: the isolation where that is no wall, and
 * what is enforced weakly or not at all. Left out: what was `told` while it ran, and where scratch lies, unless its size
 * was asked for.
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
