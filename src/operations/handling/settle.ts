import type { Config } from "../../config/config.ts";
import type { Demand } from "../../engines/assert-enforceable.ts";
import type { Isolation } from "../../policy/isolation.ts";
import { resolveLimits, type LimitKind, type Limits } from "../../policy/limits.ts";
import { parseNetwork, type NetworkPolicy } from "../../policy/network/network.ts";
import { checkEnvironment } from "../../policy/request/environment-variables.ts";
import type { Settings } from "../../workloads/run/settings.ts";
import type { OperationCall } from "../contract/operation-contract.ts";
import type { LimitsRequest } from "../contract/request-schemas.ts";
import type { StartNeeds } from "./needs.ts";

/** The fields of a request that say what its sandbox is (SPEC RT10). */
export interface SettingsRequest extends TimedRequest {
  readonly name?: string | undefined;
  readonly labels?: Readonly<Record<string, string>> | undefined;
  readonly network?: string | readonly string[] | undefined;
  readonly environment?: Readonly<Record<string, string>> | undefined;
  readonly oci_runtime?: string | undefined;
  readonly min_isolation?: Isolation | undefined;
}

interface TimedRequest {
  readonly limits?: LimitsRequest | undefined;
  /** Short for the one in `limits`. */
  readonly timeout_seconds?: number | undefined;
}

type Parts = Pick<StartNeeds, "config" | "assertNetworkAllowed" | "minIsolation">;

/**
 * What every request that starts a sandbox says of it, checked; nothing is started yet.
 * @throws INVALID_REQUEST naming the field, POLICY_DENIED for a network or an isolation that is not to be had
 */
export function settle(
  kind: LimitKind,
  request: SettingsRequest,
  platform: Parts,
  { sandboxId }: Pick<OperationCall, "sandboxId">,
): Settings {
  const { config } = platform;
  return {
    sandboxId,
    name: request.name,
    labels: request.labels ?? {},
    network: allowedNetwork(request.network, platform),
    limits: requestedLimits(kind, request, config),
    environment: checkEnvironment(request.environment ?? {}),
    hostEnvironment: config.hostEnvironment,
    ociRuntime: request.oci_runtime,
    minIsolation: platform.minIsolation("other", request.min_isolation),
    explicitDemands: explicitDemands(kind, request, config.explicitSettings),
  };
}

/** The network that a request names, or none. @throws INVALID_REQUEST, POLICY_DENIED */
export function allowedNetwork(
  requested: string | readonly string[] | undefined,
  platform: Pick<StartNeeds, "assertNetworkAllowed">,
): NetworkPolicy {
  const network = parseNetwork(requested);
  platform.assertNetworkAllowed(network);
  return network;
}

/** A request's limits. @throws INVALID_REQUEST */
export function requestedLimits(
  kind: LimitKind,
  { limits, timeout_seconds: seconds }: TimedRequest,
  { limits: defaults, ceilings }: Pick<Config, "limits" | "ceilings">,
): Limits {
  return resolveLimits({
    kind,
    defaults,
    ceilings,
    requested: { ...limits, ...(seconds === undefined ? {} : { timeout_seconds: seconds }) },
    fieldNames: seconds === undefined ? {} : { timeout_seconds: "timeout_seconds" },
  });
}

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
