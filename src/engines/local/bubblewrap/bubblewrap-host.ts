import type { Capabilities, Enforcement } from "../../capabilities.ts";
import type { Controller } from "../../control-groups.ts";
import { closeSync, openSync, readFileSync, readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { throwIfCancelled } from "../../../base/abort.ts";
import { GloveboxError } from "../../../errors/glovebox-error.ts";
import { openBaseNamespace, type BaseNamespace } from "./mount-namespaces.ts";
import { findOwnNode, arrangeInterpreters, findPython, type Interpreters } from "../interpreters.ts";
import { HostBun } from "../host-bun.ts";
import { Cgroups } from "../cgroups.ts";
import { firstFreeDescriptor } from "./bwrap-arguments.ts";
import { readHostRoot, readOpenFilesCeiling, type HostRoot } from "./host-root.ts";
import { findHostTools, type HostTools } from "./host-tools.ts";
import { userLimitsBelow, farUids, HostUids, type UserLimit } from "../../container-users.ts";
import type { LocalEngineOptions } from "../level.ts";
import { UserNamespacePool } from "./user-namespace-pool.ts";
import { supervisorBinary, type SupervisorBinary } from "../../supervised/supervisor-binary.ts";

interface NamespacesAbilities {
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

/** Everything that the engine knows about its host and keeps open on it. */
export interface BubblewrapHost {
  readonly tools: HostTools;
  /** `bubblewrap 0.8.0`. */
  readonly version: string;
  readonly root: HostRoot;
  readonly interpreters: Interpreters;
  /** Paths of the executables on the host; null for those it does not have. */
  readonly interpreterPaths: readonly (string | null)[];
  readonly bun: HostBun;
  /** Whether programs have Node. */
  readonly hasNode: boolean;
  readonly base: BaseNamespace;
  readonly supervisor: SupervisorBinary;
  /** Users and their namespaces; null: programs are our own user. */
  readonly users: UserNamespacePool | null;
  readonly cgroups: Cgroups;
  readonly capabilities: Capabilities;
  /** Whether the kernel counts a program's processes inside its own user namespace. */
  readonly countsProcessesByNamespace: boolean;
  readonly canDisableUserNamespaces: boolean;
  readonly openFilesCeiling: number;
  /** Of programs that are our own user; empty where each container has a user of its own. */
  readonly userLimits: readonly UserLimit[];
  readonly nullDescriptor: number;
  /** Descriptors from 8 on that this process was born with and that its children would inherit. */
  readonly inherited: readonly number[];
  close(): void;
}

/** @throws ENGINE_UNAVAILABLE with the reason and what helps, CANCELLED */
export async function openBubblewrapHost(options: LocalEngineOptions, signal?: AbortSignal): Promise<BubblewrapHost> {
  if (options.platform !== "linux") throw wrongPlatform(options.platform);
  const tools = findHostTools(options.environment["PATH"]);
  const [python, node, bun] = await Promise.all([
    findPython({ ...options, signal }),
    findOwnNode({ ...options, signal }),
    HostBun.find(options),
  ]);
  throwIfCancelled(signal);
  const root = readHostRoot();
  const interpreters = arrangeInterpreters({ bun: bun.source, node, python });
  const isRoot = options.uid === 0;
  const { seccompFilter } = options;
  const { supervisor, program } = await readSupervisor(options.architecture);
  const base = await openBase({ tools, isRoot, root, interpreters, seccompFilter, supervisor: program, signal });
  const version = base.bwrapVersion;
  const cgroups = Cgroups.open();
  const users = isRoot
    ? new UserNamespacePool({ tools, hostUids: new HostUids(farUids, options.randomInteger) })
    : null;
  const nullDescriptor = openSync("/dev/null", "r+");
  const countsByNamespace = countsProcessesByNamespace(readText("/proc/sys/kernel/osrelease") ?? "");
  return {
    tools,
    version,
    root,
    interpreters,
    interpreterPaths: [bun.path, node, python?.executable ?? null],
    bun,
    hasNode: node !== null,
    base,
    supervisor,
    users,
    cgroups,
    capabilities: namespacesCapabilities({
      controllers: new Set(cgroups.places.keys()),
      countsCpuTime: cgroups.countsCpuTime,
      countsProcessesByNamespace: countsByNamespace,
      isApart: isRoot,
      hasNode: node !== null,
    }),
    countsProcessesByNamespace: countsByNamespace,
    canDisableUserNamespaces: isAtLeast(version, 0, 8),
    openFilesCeiling: readOpenFilesCeiling(),
    userLimits: isRoot ? [] : userLimitsBelow(readText("/proc/self/limits") ?? ""),
    nullDescriptor,
    inherited: inheritedDescriptors(),
    close: () => {
      users?.close();
      base.close();
      cgroups.close();
      closeSync(nullDescriptor);
    },
  };
}

/** Why a trial or a set-up failed, as an error that says what helps. */
export function explainFailure(said: string): GloveboxError {
  return namespacesUnavailable(said, {
    unprivilegedClone: readText("/proc/sys/kernel/unprivileged_userns_clone"),
    maxUserNamespaces: readText("/proc/sys/user/max_user_namespaces"),
    apparmorRestricts: readText("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"),
  });
}

/** Settings of the kernel that may forbid user namespaces; null where a kernel does not have the setting. */
interface NamespaceSettings {
  /** /proc/sys/kernel/unprivileged_userns_clone */
  readonly unprivilegedClone: string | null;
  /** /proc/sys/user/max_user_namespaces */
  readonly maxUserNamespaces: string | null;
  /** /proc/sys/kernel/apparmor_restrict_unprivileged_userns */
  readonly apparmorRestricts: string | null;
}

const otherEngine = "or use Docker or Podman instead";

/** The error for a host that does not let us make namespaces; `said` is what the kernel or the tools answered. */
export function namespacesUnavailable(said: string, settings: NamespaceSettings): GloveboxError {
  const [reason, fix] = explain(said, settings);
  return new GloveboxError("ENGINE_UNAVAILABLE", `The embedded engine cannot seal programs here: ${reason}.`, {
    suggestion: `${fix}, ${otherEngine}.`,
    context: { engine: "local" },
    cause: new Error(said),
  });
}

function explain(said: string, settings: NamespaceSettings): readonly [reason: string, fix: string] {
  if (settings.maxUserNamespaces === "0") {
    return [
      "user namespaces are disabled (user.max_user_namespaces is 0)",
      "Run: sysctl -w user.max_user_namespaces=10000",
    ];
  }
  if (settings.unprivilegedClone === "0") {
    return [
      "unprivileged user namespaces are disabled (kernel.unprivileged_userns_clone is 0)",
      "Run: sysctl -w kernel.unprivileged_userns_clone=1",
    ];
  }
  if (settings.apparmorRestricts === "1") {
    return [
      "AppArmor restricts unprivileged user namespaces (kernel.apparmor_restrict_unprivileged_userns is 1)",
      "Run: sysctl -w kernel.apparmor_restrict_unprivileged_userns=0, or give node, bwrap and unshare AppArmor profiles that allow userns",
    ];
  }
  if (/mount proc|\/proc\b/i.test(said)) {
    return [
      "a new /proc cannot be mounted, as is usual inside a container",
      "Run Glovebox on the host itself, or in a container with --security-opt systempaths=unconfined",
    ];
  }
  if (/operation not permitted|permission denied|no permissions/i.test(said)) {
    return [
      "the kernel does not allow namespaces, as is usual inside a container",
      "Run Glovebox on the host itself, or in a container that can create user and mount namespaces",
    ];
  }
  if (/seccomp/i.test(said))
    return ["the kernel has no seccomp filters (CONFIG_SECCOMP_FILTER)", "Use a kernel that has them"];
  if (/unrecognized option|unknown option|invalid option/i.test(said)) {
    return ["its tools are too old or cut down", "Install bubblewrap 0.5 or newer and the full util-linux"];
  }
  return [`a trial run failed: ${withoutPaths(said)}`, "Fix what the trial run reports"];
}

/** The last line of what a tool said, without the host's paths. */
function withoutPaths(said: string): string {
  const lastLine = said.trimEnd().split("\n").at(-1) ?? "";
  const plain = lastLine.replaceAll(/\/[^\s:'"]+/g, "(path)").slice(0, 200);
  return plain === "" ? "it said nothing" : plain;
}

async function openBase(options: Parameters<typeof openBaseNamespace>[0]): Promise<BaseNamespace> {
  try {
    return await openBaseNamespace(options);
  } catch (error) {
    if (error instanceof GloveboxError) throw error;
    throw explainFailure((error as Error).message);
  }
}

function isAtLeast(version: string, major: number, minor: number): boolean {
  const [, had = 0, and = 0] = /(?<!\d)(\d+)\.(\d+)/.exec(version)?.map(Number) ?? [];
  return had > major || (had === major && and >= minor);
}

/** Node opens everything close-on-exec, but passes on what it inherited itself. */
function inheritedDescriptors(): readonly number[] {
  const closesOnExec = 0o2000000;
  return readdirSync("/proc/self/fd")
    .map(Number)
    .filter((descriptor) => {
      if (descriptor < firstFreeDescriptor) return false;
      const flags = /^flags:\s+([0-7]+)/m.exec(readText(`/proc/self/fdinfo/${descriptor}`) ?? "")?.[1];
      return flags !== undefined && (Number.parseInt(flags, 8) & closesOnExec) === 0;
    });
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return null;
  }
}

async function readSupervisor(architecture: string): Promise<{ supervisor: SupervisorBinary; program: Uint8Array }> {
  try {
    const supervisor = supervisorBinary(architecture);
    return { supervisor, program: await readFile(supervisor.path) };
  } catch (error) {
    throw new GloveboxError("ENGINE_UNAVAILABLE", `The embedded engine has no supervisor for ${architecture} here.`, {
      suggestion: "It runs on x64 and arm64; there, install Glovebox again: a file of its package is missing.",
      context: { engine: "local", architecture },
      cause: error,
    });
  }
}

function wrongPlatform(platform: string): GloveboxError {
  return new GloveboxError("ENGINE_UNAVAILABLE", `The embedded engine needs Linux namespaces; this is ${platform}.`, {
    suggestion: "Use Docker, Podman or (on macOS) Apple's container on this platform.",
    context: { engine: "local", platform },
  });
}
