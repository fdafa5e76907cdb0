import type { Capabilities, Enforcement } from "../../capabilities.ts";
import type { Controller } from "../../cgroups/cgroup-places.ts";

export interface NamespacesAbilities {
  /** Controllers whose groups we may make. */
  readonly controllers: ReadonlySet<Controller>;
  /** Whether the CPU time of those groups is counted. */
  readonly countsCpuTime: boolean;
  /** Whether the kernel counts a program's processes inside its own user namespace (Linux 5.14). */
  readonly countsProcessesByNamespace: boolean;
  /** Whether programs have Node, beside Bun, which they always have. */
  readonly hasNode: boolean;
}

const limitsAdvice =
  "For hard limits, let Glovebox create control groups: run it as root, or under systemd with Delegate=yes.";

/** What the embedded engine enforces at level `namespaces`, with and without control groups. */
export function namespacesCapabilities(abilities: NamespacesAbilities): Capabilities {
  const { controllers, countsCpuTime, countsProcessesByNamespace, hasNode } = abilities;
  const processes: Enforcement = countsProcessesByNamespace
    ? { substitute: "a limit for each program (rlimit) instead of all programs together" }
    : "no";
  return {
    isolation: "namespaces",
    images: false,
    ...(hasNode ? {} : { javascript: "bun" }),
    seccomp: "yes",
    noNewPrivileges: "yes",
    setuidRefusal: "yes",
    readOnlyRoot: "yes",
    noNetwork: "yes",
    memoryLimit: controllers.has("memory")
      ? "yes"
      : {
          substitute: "a check every 50 ms that kills the program if its processes together use more",
        },
    cpuLimit: controllers.has("cpu") ? "yes" : "no",
    pidsLimit: controllers.has("pids") ? "yes" : processes,
    ...(["memory", "cpu", "pids"].every((name) => controllers.has(name as Controller)) ? {} : { limitsAdvice }),
    scratch: "memory",
    diskLimit: "no",
    hostPaths: true,
    oomReporting: true,
    cpuReporting: countsCpuTime,
    execUser: false,
    execKill: true,
    execNetwork: "shared",
  };
}

/** Whether a kernel's release, such as `5.15.0-91-generic`, counts RLIMIT_NPROC in each user namespace by itself. */
export function countsProcessesByNamespace(release: string): boolean {
  const [major = 0, minor = 0] = release.split(".").map((part) => Number.parseInt(part, 10));
  return major > 5 || (major === 5 && minor >= 14);
}
