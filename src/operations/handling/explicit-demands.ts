import type { Demand } from "../../engines/assert-enforceable.ts";
import type { LimitKind } from "../../policy/limits.ts";
import type { LimitsRequest } from "../contract/run-settings-schema.ts";

/** Limits and policies that the request or the configuration names, as demands on the engine (SPEC RT5). */
export function explicitDemands(
  kind: LimitKind,
  { limits, network }: { readonly limits?: LimitsRequest | undefined; readonly network?: unknown },
  configured: readonly string[],
): Demand[] {
  const named = namedLimits(kind, limits, configured);
  const byField: readonly [string, Demand][] = [
    ["cpus", "cpuLimit"],
    ["memory_mb", "memoryLimit"],
    ["pids", "pidsLimit"],
  ];
  const ofLimits = byField.filter(([field]) => named.has(`limits.${kind}.${field}`)).map(([, demand]) => demand);
  return network === undefined ? ofLimits : [...ofLimits, "noNetwork"];
}

/** Whether the request or the configuration names the size of scratch (SPEC LI1). */
export function isDiskNamed(
  kind: LimitKind,
  { limits }: { readonly limits?: LimitsRequest | undefined },
  configured: readonly string[],
): boolean {
  return namedLimits(kind, limits, configured).has(`limits.${kind}.disk_mb`);
}

function namedLimits(
  kind: LimitKind,
  limits: LimitsRequest | undefined,
  configured: readonly string[],
): ReadonlySet<string> {
  return new Set([...configured, ...Object.keys(limits ?? {}).map((field) => `limits.${kind}.${field}`)]);
}
