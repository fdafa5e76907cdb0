import { GloveboxError } from "../errors/glovebox-error.ts";

/** What a key does not allow, for the error that says so. */
export interface Refusal {
  /** Field of the request. */
  readonly field: string;
  /** What was asked for. */
  readonly value: string;
  /** The rule of the key, as the options of `glovebox keys add` call it. */
  readonly rule: "engines" | "network";
  /** What the key allows. */
  readonly allowed: readonly string[];
}

/** The refusal of what a caller's API key does not allow. */
export function grantRefused({ field, value, rule, allowed }: Refusal): GloveboxError {
  const shown = JSON.stringify(value.slice(0, 200));
  const names = allowed.length === 0 ? "nothing" : allowed.slice(0, 20).join(", ");
  return new GloveboxError("POLICY_DENIED", `${field}: ${shown} is refused by the rule ${rule} of your API key.`, {
    suggestion: `Your key allows ${names}. What would allow it: a key that the operator makes with --${rule} ${value.slice(0, 200)}.`,
    context: { field, rule, value: value.slice(0, 200), allowed: allowed.slice(0, 20) },
  });
}
