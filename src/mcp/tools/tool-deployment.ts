import { mebibyte } from "../../base/bytes.ts";
import type { Deployment } from "../../operations/contract/operation-contract.ts";
import type { Platform } from "../../platform/platform.ts";

/** Fields of limits, in the wire's units. */
export type WireLimits = Readonly<Record<"cpus" | "memory_mb" | "timeout_seconds" | "pids" | "disk_mb", number>>;

type Settings = Platform["config"];
export type LimitKind = keyof Settings["limits"];

/** What tool descriptions say about the deployment. */
export interface ToolDeployment extends Deployment {
  /** Defaults by kind of work. */
  readonly limits: Readonly<Record<LimitKind, WireLimits>>;
  readonly ceilings: WireLimits;
  /** Names of the secrets that programs may request. */
  readonly secrets: readonly string[];
  /** Whether its operator has configured how strongly programs are isolated. */
  readonly choosesIsolation: boolean;
  /** Whether it builds projects' own Dockerfiles. */
  readonly buildsDockerfiles: boolean;
}

/** What the tools of a platform say about it. */
export function toolDeployment(platform: Pick<Platform, "config" | "minIsolation">): ToolDeployment {
  const { limits, ceilings, secrets, explicitSettings, buildDockerfiles, prebuiltOnly } = platform.config;
  const kinds = Object.entries(limits).map(([kind, given]) => [kind, wireLimits(given)] as const);
  return {
    sessionIsolation: platform.minIsolation("session"),
    limits: Object.fromEntries(kinds) as Record<LimitKind, WireLimits>,
    ceilings: wireLimits(ceilings),
    secrets: secrets.map(({ name }) => name),
    choosesIsolation: explicitSettings.includes("min_isolation"),
    buildsDockerfiles: buildDockerfiles && !prebuiltOnly,
  };
}

function wireLimits({ cpus, memoryBytes, timeoutMs, pids, diskBytes }: Settings["ceilings"]): WireLimits {
  return {
    cpus,
    memory_mb: memoryBytes / mebibyte,
    timeout_seconds: timeoutMs / 1000,
    pids,
    disk_mb: diskBytes / mebibyte,
  };
}
