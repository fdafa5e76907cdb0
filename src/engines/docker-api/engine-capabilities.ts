import type { Capabilities, Enforcement } from "../capabilities.ts";
import { containerRoot } from "./engine-setup.ts";
import { runtimeKind, type RuntimeAnswer, type RuntimeKind } from "./oci-runtime.ts";

/** The part of `/info` that is read. */
export interface InfoAnswer {
  readonly SecurityOptions?: readonly string[] | null;
  readonly MemoryLimit?: boolean;
  readonly SwapLimit?: boolean;
  readonly CpuCfsQuota?: boolean;
  readonly PidsLimit?: boolean;
  /** `1` or `2`. */
  readonly CgroupVersion?: string;
  /** Name of the registry for images without a registry in their name. */
  readonly IndexServerAddress?: string;
  readonly Runtimes?: Readonly<Record<string, RuntimeAnswer>> | null;
  readonly DefaultRuntime?: string;
  /** Of its machine, as its kernel names it. */
  readonly Architecture?: string;
  /** Where the engine keeps images and containers on its own machine. */
  readonly DockerRootDir?: string;
  /** Not the engine's own: what people can do about limits that it cannot set, where that is known better. */
  readonly limitsAdvice?: string;
}

const limitsAdvice =
  "Give the engine all control groups (a rootless one: version 2, handed down by systemd) and let its kernel count swap (kernel parameter swapaccount=1), or switch swap off.";

export interface EngineCircumstances {
  /** Default: the engine's own. */
  readonly ociRuntime?: string | undefined;
  /** Whether paths of this machine are also the engine's. */
  readonly sharesFiles: boolean;
}

/** What an engine behind Docker's API enforces with an OCI runtime, by its account of the machine. */
export function engineCapabilities(info: InfoAnswer, { ociRuntime, sharesFiles }: EngineCircumstances): Capabilities {
  const kind = runtimeKindOf(info, ociRuntime);
  return {
    ...namespaceCapabilities(info),
    hostPaths: sharesFiles,
    ...(kind === "namespaces" ? chosenUsers(info) : {}),
    ...differences[kind],
  };
}

/** The kind of a runtime of this engine; default: its own. */
export function runtimeKindOf({ DefaultRuntime, Runtimes }: InfoAnswer, name = DefaultRuntime ?? "runc"): RuntimeKind {
  return runtimeKind(name, Runtimes?.[name]);
}

/** Our filter does not apply to another kernel's calls, and files of the host get what it sets. */
const setuidWatch: Enforcement = { substitute: "a watch over the project that clears the bits and alerts" };

/** What a runtime with its own kernel does differently from one that shares the host's. */
const differences: Readonly<Record<RuntimeKind, Partial<Capabilities>>> = {
  namespaces: {},
  gvisor: {
    seccomp: { substitute: "gVisor's own kernel" },
    noNewPrivileges: { substitute: "gVisor's own kernel" },
    setuidRefusal: setuidWatch,
    // Its kernel needs several host threads for each thread inside, and crashes when it gets none.
    pidsLimit: { substitute: "`--ulimit nproc` inside gVisor" },
    // The host's kernel ends the whole sandbox, and inside there are no control groups to read.
    oomReporting: false,
    // The engine does not see what its kernel stores of the root.
    diskLimit: "no",
  },
  vm: {
    isolation: "vm",
    seccomp: { substitute: "the boundary of a virtual machine" },
    noNewPrivileges: { substitute: "the boundary of a virtual machine" },
    setuidRefusal: setuidWatch,
    oomReporting: false,
    diskLimit: "no",
  },
};

function namespaceCapabilities(info: InfoAnswer): Omit<Capabilities, "hostPaths"> {
  const hasSeccomp =
    info.SecurityOptions?.some((option) => /(?:^|,)name=seccomp(?:,|$)|^seccomp$/.test(option)) ?? false;
  const limits = {
    memoryLimit: memoryLimit(info),
    cpuLimit: info.CpuCfsQuota === true ? "yes" : "no",
    pidsLimit: info.PidsLimit === true ? "yes" : "no",
  } as const;
  return {
    isolation: "container",
    images: true,
    seccomp: hasSeccomp ? "yes" : "no",
    noNewPrivileges: "yes",
    setuidRefusal: hasSeccomp ? "yes" : "no",
    readOnlyRoot: "yes",
    noNetwork: "yes",
    ...limits,
    ...(Object.values(limits).every((limit) => limit === "yes")
      ? {}
      : { limitsAdvice: info.limitsAdvice ?? limitsAdvice }),
    scratch: "memory",
    diskLimit: { substitute: "a watch that measures the root each second and ends the sandbox" },
    oomReporting: info.MemoryLimit === true,
    cpuReporting: info.CpuCfsQuota === true,
    supervisor: "apart",
    execUser: true,
    execNetwork: "shared",
  };
}

/** Without root the engine maps root to the person that runs it; a remapped one maps all of them to nobody's. */
function chosenUsers({ SecurityOptions }: InfoAnswer): Pick<Capabilities, "chosenUsers"> {
  const root = containerRoot(SecurityOptions ?? []);
  if (root === "root") return {};
  return { chosenUsers: root === "rootless" ? "ordinary" : "any" };
}

function memoryLimit(info: InfoAnswer): Enforcement {
  if (info.MemoryLimit !== true) return "no";
  if (info.SwapLimit === false) return { substitute: "a limit that leaves swap unlimited" };
  return "yes";
}
