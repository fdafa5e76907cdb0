import type { Demand } from "../../engines/enforcement/assert-enforceable.ts";
import type { LimitKind } from "../../policy/limits/limits.ts";
import type { LimitsRequest } from "../contract/request/run-settings-schema.ts";

/** Limits and policies that the request or the configuration names, as demands on the engine (SPEC RT5). */
export function explicitDemands(
  kind: LimitKind,
  { limits, network }: { readonly limits?: LimitsRequest | undefined; readonly network?: unknown },
  configured: readonly string[],
): Demand[] {
  const named = new Set([...configured, ...Object.keys(limits ?? {}).map((field) => `limits.${kind}.${field}`)]);
  const byField: readonly [string, Demand][] = [
    ["cpus", "cpuLimit"],
    ["memory_mb", "memoryLimit"],
    ["pids", "pidsLimit"],
  ];
  const ofLimits = byField.filter(([field]) => named.has(`limits.${kind}.${field}`)).map(([, demand]) => demand);
  return network === undefined ? ofLimits : [...ofLimits, "noNetwork"];
}
