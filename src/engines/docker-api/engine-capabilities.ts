import type {
  ContainerRoot,
  EngineComponent,
  EngineConnection,
  EngineSetup,
  Capabilities,
  Enforcement,
} from "../capabilities.ts";
import type { Endpoint } from "./http/endpoint.ts";
import { runtimeKind, type RuntimeAnswer, type RuntimeKind } from "./oci-runtime.ts";

/** The part of `/version` that is read here. */
export interface ComponentsAnswer {
  readonly Platform?: { readonly Name?: string } | null;
  readonly Components?:
    | readonly {
        readonly Name?: string;
        readonly Version?: string;
        readonly Details?: { readonly GitCommit?: string } | null;
      }[]
    | null;
}

/** The part of `/info` that is read here. */
export interface SetupAnswer {
  readonly SecurityOptions?: readonly string[] | null;
  readonly KernelVersion?: string;
  readonly Plugins?: { readonly Authorization?: readonly string[] | null } | null;
  readonly Warnings?: readonly string[] | null;
}

/** The engine's parts with their versions; a part with an unknown version is left out. */
export function engineComponents({ Components, Platform }: ComponentsAnswer): readonly EngineComponent[] {
  const parts = (Components ?? []).flatMap(({ Name = "", Version = "", Details }): EngineComponent[] => {
    const version = versionIn(Version);
    if (version === null) return [];
    const build = Details?.GitCommit || /^commit: (\S+)/m.exec(Version)?.[1];
    return [{ name: productName(Name), version, ...(build && build !== "unknown" ? { build } : {}) }];
  });
  const desktop = /^Docker Desktop (\S+)/.exec(Platform?.Name ?? "")?.[1];
  return desktop === undefined ? parts : [{ name: "Docker Desktop", version: desktop }, ...parts];
}

/** How the engine says that it is set up. */
export function engineSetup(info: SetupAnswer, endpoint: Endpoint): EngineSetup {
  const options = optionNames(info.SecurityOptions ?? []);
  const kernel = info.KernelVersion;
  return {
    connection: engineConnection(endpoint),
    ...(kernel === undefined || kernel === "" ? {} : { kernel }),
    containerRoot: containerRoot(info.SecurityOptions ?? []),
    accessControl: (["apparmor", "selinux"] as const).filter((system) => options.has(system)),
    authorizationPlugins: info.Plugins?.Authorization ?? [],
    openAddresses: (info.Warnings ?? []).flatMap((warning) => openApi.exec(warning)?.[1] ?? []),
  };
}

/** Docker's own warning of an API that asks nobody for a certificate (moby, daemon/info.go). */
const openApi = /API is accessible on (\S+) without (?:encryption|TLS client verification)/;

/** How the API is reached there. */
export function engineConnection(endpoint: Endpoint): EngineConnection {
  const { kind, origin } = endpoint;
  if (kind === "socket") return { kind, tls: null, remote: false, origin };
  // An alias of `ssh` may lead anywhere.
  if (kind === "ssh") return { kind, tls: null, remote: true, origin };
  const tls = endpoint.tls === null ? null : endpoint.tls.verify ? "verified" : "unverified";
  return { kind, tls, remote: !/^(?:localhost|127(?:\.\d+){3}|::1)$/i.test(endpoint.host), origin };
}

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

interface EngineCircumstances {
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

/** Who root inside is, by what the engine says of its security. */
function containerRoot(securityOptions: readonly string[]): ContainerRoot {
  const options = optionNames(securityOptions);
  return options.has("rootless") ? "rootless" : options.has("userns") ? "remapped" : "root";
}

function optionNames(securityOptions: readonly string[]): ReadonlySet<string> {
  return new Set(securityOptions.map((option) => /(?:^|,)name=([^,]+)/.exec(option)?.[1] ?? option));
}

/** Docker calls itself `Engine`; Podman calls its runtime `OCI Runtime (runc)`. */
function productName(name: string): string {
  if (name === "Engine") return "Docker Engine";
  return /^OCI Runtime \((.+)\)$/.exec(name)?.[1] ?? name;
}

/** `1.1.5+ds1` of itself, of `v1.1.5+ds1` and of `runc version 1.1.5+ds1` with more lines below. */
function versionIn(text: string): string | null {
  return /(?:^|\s)v?(\d+\.\d[^\s,]*)/.exec(text)?.[1] ?? null;
}
