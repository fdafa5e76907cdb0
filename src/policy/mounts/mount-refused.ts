import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { ErrorType } from "../../errors/catalogue.ts";
import type { MountRule, MountVerdict } from "./mount-verdict.ts";

/** Rules that refuse a wrong request; every other refusal is the policy's. */
const wrongRequest: ReadonlySet<MountRule> = new Set<MountRule>([
  "missing",
  "unreadable",
  "outside-roots",
  "not-a-file-or-folder",
  "bad-target",
]);

/** A host path that the gate refused, as the error for the client who named it: no other path of the host is in it. */
export function mountRefused(verdict: MountVerdict, field: string, given: string): GloveboxError {
  const { rule, explanation, pattern, advice, whatWouldAllow } = verdict;
  const errorType: ErrorType = wrongRequest.has(rule) ? "INVALID_REQUEST" : "POLICY_DENIED";
  const shown = JSON.stringify(given.slice(0, 200));
  return new GloveboxError(errorType, `${field}: ${shown} is refused by the rule ${rule}. ${explanation}`, {
    suggestion: advice ?? `What would allow it: ${whatWouldAllow ?? "nothing."}`,
    context: { field, rule, ...(pattern === null ? {} : { pattern }) },
  });
}
