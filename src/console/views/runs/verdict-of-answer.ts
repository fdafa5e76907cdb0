import type { SandboxStateAnswer } from "../../../operations/sandboxes/sandbox-state-schema.ts";
import { storedVerdict, verdictOf, type Verdict } from "../words.ts";

/** How an ended run stands: by its result's own verdict, else by its outcome, else by what the store has. */
export function verdictOfAnswer({ result, error, stored }: SandboxStateAnswer): Verdict {
  if (error !== undefined) return { word: error.error_type, tone: "bad", icon: "warning" };
  const { verdict, outcome } = (typeof result === "object" && result !== null ? result : {}) as Readonly<
    Record<string, unknown>
  >;
  if (typeof verdict === "string") return verdictOf(verdict);
  if (typeof outcome === "string") return verdictOf(outcome);
  return stored === undefined ? verdictOf(null) : storedVerdict(stored);
}
