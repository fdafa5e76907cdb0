import type { DenialRule, RefusedConnection } from "../../operations/contract/wire-values.ts";

/** One refused connection, explained. */
export type Denial = RefusedConnection;

const longestTarget = 100;

const maxInWarning = 3;

/** The warning of a run that went on after refusals: the first of them, and how many there were in all. */
export function denialWarning(denials: readonly Denial[], count: number): string {
  const shown = denials.slice(0, maxInWarning).map(({ target, rule }) => `${target} (${rule})`);
  const rest = count > shown.length ? ` and ${count - shown.length} more` : "";
  return `The network policy refused connections to ${shown.join(", ")}${rest}.`;
}

/** A denial whose target is safe to show. */
export function denial(rule: DenialRule, target: string, reason: string, remedy: string): Denial {
  const shown = target.slice(0, longestTarget).replace(/[^\x21-\x7e]/g, "?");
  return { rule, target: shown, reason, remedy };
}
