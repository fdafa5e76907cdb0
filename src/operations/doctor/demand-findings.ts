import { assertEnforceable, optionalDemands } from "../../engines/enforcement/assert-enforceable.ts";
import type { Capabilities } from "../../engines/capabilities.ts";
import type { EngineName } from "../../engines/engine.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { Isolation } from "../../policy/isolation.ts";
import type { Finding } from "./finding-schema.ts";

/** How the engine meets what every run demands: refused runs and substitutes. */
export interface DemandReport {
  /** Whether a run that asks for nothing special is accepted. */
  readonly usable: boolean;
  readonly findings: readonly Finding[];
}

/** Holds an engine's abilities against the demands of a run, with the same check that runs pass. */
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
    return { usable: true, findings: warnings.map((warning) => substitute(warning, fix)) };
  } catch (error) {
    if (!(error instanceof GloveboxError)) throw error;
    const refused: Finding = {
      severity: "warning",
      what: error.message,
      why: "Runs on this engine are refused, unless they ask for less.",
      fix: error.suggestion,
    };
    return { usable: false, findings: [refused] };
  }
}

function substitute(warning: string, fix: string): Finding {
  return {
    severity: "note",
    what: `${warning.charAt(0).toUpperCase()}${warning.slice(1)}`,
    why: "Something weaker stands in for what is demanded; each result says so in its warnings.",
    fix,
  };
}
