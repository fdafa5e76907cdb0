import type { Demand } from "../../engines/assert-enforceable.ts";
import type { LimitField } from "../../policy/limits/limit-fields.ts";
import type { LimitsRequest } from "../run-settings.ts";

const byField: readonly (readonly [LimitField, Demand])[] = [
  ["cpus", "cpuLimit"],
  ["memory_mb", "memoryLimit"],
  ["pids", "pidsLimit"],
];

/** Limits that a request or the configuration names, as demands on the engine. */
export function explicitDemands(limits: LimitsRequest | undefined, configured: readonly string[]): readonly Demand[] {
  return byField
    .filter(([field]) => limits?.[field] !== undefined || configured.includes(`limits.environment.${field}`))
    .map(([, demand]) => demand);
}
