/** Which rule refused a connection. */
export type DenialRule =
  /** What was asked for is an address, and only names are served. */
  | "address"
  /** The name is not one in strict form. */
  | "name"
  /** No rule of the policy allows the name. */
  | "not_allowed"
  /** The sandbox's network was for its installing phase, which is over. */
  | "locked"
  /** The name is allowed, at other ports. */
  | "port"
  /** The name resolves to nothing but addresses that are not public. */
  | "private_address"
  /** The name in the TLS hello is missing or another one. */
  | "server_name"
  /** The sandbox has used up its bytes. */
  | "budget"
  /** What was sent is no request that the proxy serves. */
  | "protocol";

/** One refused connection, explained. */
export interface Denial {
  /** What was asked for, `name:port` where it is one; cut, and without control characters. */
  readonly target: string;
  readonly rule: DenialRule;
  /** One sentence: why. */
  readonly reason: string;
  /** One sentence: what would allow it. */
  readonly remedy: string;
}

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
