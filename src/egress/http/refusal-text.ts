import type { Denial } from "../../policy/network/denial.ts";

/** What a refused program reads in the answer's body. */
export function refusalText({ target, rule, reason, remedy }: Denial): string {
  return `Glovebox refused the connection to ${target}.\nRule: ${rule}. ${reason}\n${remedy}\n`;
}
