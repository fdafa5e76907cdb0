import type { Capabilities, Enforcement } from "../../capabilities.ts";
import type { Controller } from "../../cgroups/cgroup-places.ts";

export interface NamespacesAbilities {
  /** Controllers whose groups we may make. */
  readonly controllers: ReadonlySet<Controller>;
  /** Whether the CPU time of those groups is counted. */
  readonly countsCpuTime: boolean;
  /** Whether the kernel counts a user's processes in each user namespace by itself (Linux 5.14). */
  readonly countsProcessesByNamespace: boolean;
  /** Whether programs are another user than the supervisor: where we are root. */
  readonly isApart: boolean;
  /** Whether programs have Node, beside Bun, which they always have. */
  readonly hasNode: boolean;
}

const limitsAdvice =
  "For hard limits, let Glovebox create control groups: run it as root, or under systemd with Delegate=yes.";

const sharedNote =
  "Engine local runs programs as the user of the process that watches over them, because Glovebox is not root: a program can end others of its own sandbox, whose calls then say that the sandbox was lost.";

/** What the embedded engine enforces at level `namespaces`, with and without control groups. */
export function namespacesCapabilities(abilities: NamespacesAbilities): Capabilities {
  const { controllers, countsCpuTime, countsProcessesByNamespace, isApart, hasNode } = abilities;
  const processes: Enforcement = countsProcessesByNamespace
    ? { substitute: "a limit for the user of its programs (rlimit) instead of a control group" }
    : "no";
  return {
    isolation: "namespaces",
    images: false,
    supervisor: isApart ? "apart" : "shared",
    ...(isApart ? {} : { notes: [sharedNote] }),
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
    ...(isApart ? { helperUser: true } : {}),
    execNetwork: "shared",
  };
}

/** Whether a kernel's release, such as `5.15.0-91-generic`, counts RLIMIT_NPROC in each user namespace by itself. */
export function countsProcessesByNamespace(release: string): boolean {
  const [major = 0, minor = 0] = release.split(".").map((part) => Number.parseInt(part, 10));
  return major > 5 || (major === 5 && minor >= 14);
}
