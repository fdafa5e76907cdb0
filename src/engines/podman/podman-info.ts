import type { EngineConnection } from "../engine-setup.ts";
import type { EngineAccount, MachineAnswer } from "../docker-api/dialect.ts";

/** The part of Podman's own `/info` that is read. */
export interface PodmanInfo {
  readonly host?: {
    /** `v1` or `v2`. */
    readonly cgroupVersion?: string;
    /** Who makes control groups: `systemd` or `cgroupfs`. */
    readonly cgroupManager?: string;
    /** Control groups that containers of this service can have. */
    readonly cgroupControllers?: readonly string[] | null;
    readonly security?: { readonly rootless?: boolean; readonly seccompEnabled?: boolean } | null;
    readonly conmon?: { readonly version?: string } | null;
    readonly ociRuntime?: { readonly name?: string; readonly version?: string } | null;
  };
  readonly version?: { readonly Version?: string } | null;
}

/** What `/version` would tell of the service and of its parts. */
export function versionIn({ host, version }: PodmanInfo): EngineAccount["version"] {
  const parts = [
    { Name: "Podman Engine", Version: version?.Version },
    { Name: "Conmon", Version: host?.conmon?.version },
    { Name: `OCI Runtime (${host?.ociRuntime?.name ?? "runc"})`, Version: host?.ociRuntime?.version },
  ];
  return { Components: parts.filter((part): part is { Name: string; Version: string } => part.Version !== undefined) };
}

const asRoot = "use the service of root (`sudo systemctl start podman.socket`, and CONTAINER_HOST that leads to it)";

/** What people can do who want limits without root. */
const rootlessAdvice = {
  version: `Without root Podman ignores limits with control groups version 1: boot with version 2 (kernel parameter systemd.unified_cgroup_hierarchy=1), or ${asRoot}.`,
  manager: `Without root Podman ignores limits unless systemd makes the control groups: set cgroup_manager="systemd" under [engine] in containers.conf and start the service in a login session of its user, or ${asRoot}.`,
  controllers: `Let systemd delegate the controllers to users (Delegate=cpu memory pids under [Service] in /etc/systemd/system/user@.service.d/delegate.conf, then log in again), or ${asRoot}.`,
} as const;

/**
 * The account that Podman gives in Docker's words, corrected by the one in its own: the first tells what the kernel
 * has, not what this service can use. Without root it ignores every limit with cgroup v1, and with `cgroupfs`, which
 * lists the controllers all the same (podman issue 21575). A service on another machine cannot be given a seccomp
 * profile.
 */
export function correctInfo(
  info: MachineAnswer,
  { host = {} }: PodmanInfo,
  connection: EngineConnection,
): MachineAnswer {
  const isRootless = host.security?.rootless === true;
  const obstacle = isRootless ? rootlessObstacle(host) : null;
  const usable = obstacle === "version" || obstacle === "manager" ? [] : (host.cgroupControllers ?? []);
  const hasSeccomp = host.security?.seccompEnabled === true && !connection.remote;
  const others = (info.SecurityOptions ?? []).filter((option) => !/^(?:name=)?seccomp(?:,|$)/.test(option));
  return {
    ...info,
    SecurityOptions: [
      ...others.filter((option) => option !== "name=rootless"),
      ...(hasSeccomp ? ["name=seccomp"] : []),
      ...(isRootless ? ["name=rootless"] : []),
    ],
    MemoryLimit: usable.includes("memory"),
    CpuCfsQuota: usable.includes("cpu") && info.CpuCfsQuota !== false,
    PidsLimit: usable.includes("pids"),
    ...(obstacle === null ? {} : { limitsAdvice: rootlessAdvice[obstacle] }),
  };
}

/** The first thing in the way of limits without root; null when nothing is. */
function rootlessObstacle(host: NonNullable<PodmanInfo["host"]>): keyof typeof rootlessAdvice | null {
  if (host.cgroupVersion !== "v2") return "version";
  if (host.cgroupManager !== "systemd") return "manager";
  const controllers = host.cgroupControllers ?? [];
  return ["cpu", "memory", "pids"].every((name) => controllers.includes(name)) ? null : "controllers";
}
