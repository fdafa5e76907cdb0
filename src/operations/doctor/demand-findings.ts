import { assertEnforceable, optionalDemands } from "../../engines/enforcement/assert-enforceable.ts";
import type { Capabilities } from "../../engines/capabilities.ts";
import type { EngineName } from "../../engines/engine.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { Isolation } from "../../policy/isolation.ts";
import type { Finding } from "./finding-schema.ts";

/** How the engine satisfies what every run demands: refused runs and substitutes. */
export interface DemandReport {
  /** Whether a run with default settings is accepted. */
  readonly usable: boolean;
  readonly findings: readonly Finding[];
}

/** Compares an engine's capabilities with what a run demands, using the same check as runs. */
export function demandReport(
  capabilities: Capabilities,
  { engine, minIsolation }: { engine: EngineName; minIsolation: Isolation },
): DemandReport {
  try {
    const { warnings } = assertEnforceable(capabilities, {
      engine,
      minIsolation,
      optional: optionalDemands(capabilities, []),
    });
    const fix = capabilities.limitsAdvice ?? "Nothing needs to be done.";
    return { usable: true, findings: warnings.length === 0 ? [] : [substitutes(warnings, fix)] };
  } catch (error) {
    if (!(error instanceof GloveboxError)) throw error;
    const refused: Finding = {
      severity: "warning",
      what: error.message,
      why: "Runs on this engine are refused unless they require less.",
      fix: error.suggestion,
    };
    return { usable: false, findings: [refused] };
  }
}

function substitutes(warnings: readonly string[], fix: string): Finding {
  return {
    severity: "note",
    what: warnings.join(" "),
    why: "This is weaker than what runs ask for; the warnings of each result say so.",
    fix,
  };
}
