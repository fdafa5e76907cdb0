import { GloveboxError } from "../errors/glovebox-error.ts";
import type { Isolation } from "../policy/isolation.ts";

export type { Isolation } from "../policy/isolation.ts";

/** `yes`: enforced by the kernel; `no`: not at all; else the named substitute that is accepted by default. */
export type Enforcement = "yes" | "no" | { readonly substitute: string };

/** What one engine can do on this machine. Every difference between engines is a field here, never a name compared. */
export interface Capabilities {
  readonly isolation: Isolation;
  /** Whether it runs container images; otherwise programs run on the host's own system, read-only. */
  readonly images: boolean;
  /**
   * `interpretersOnly`: only Python and Node run (`python3`, `node`), each with a guard of ours in it, and no shell; every
   * other program is refused. Default `any`. Asked by `runsInterpretersOnly`.
   */
  readonly programs?: "any" | "interpretersOnly" | undefined;
  /** Which of the runtimes of JavaScript it has, where there are no images; left out: the image has it. */
  readonly javascript?: "bun" | "node" | undefined;
  /**
   * How the process of ours that starts, watches and ends programs stands to them: `apart`: it is another user, and out of
   * their reach; `shared`: it is the same, so a program can stop or kill what watches over another one of its sandbox, which
   * then ends as lost. Left out: nothing of ours does so inside.
   */
  readonly supervisor?: "apart" | "shared" | undefined;
  /** What every result must tell of this engine's isolation, one sentence each. */
  readonly notes?: readonly string[] | undefined;
  /** What people can do here to reach a better isolation, and why it is not reached; one or two sentences. */
  readonly isolationAdvice?: string | undefined;
  /** What people can do here about limits that are missing, or that something weaker meets; one or two sentences. */
  readonly limitsAdvice?: string | undefined;
  readonly seccomp: Enforcement;
  readonly noNewPrivileges: Enforcement;
  /**
   * Whether programs can set no setuid bit, which on a file of a writable mount would be the host's. Where something else
   * stands in, the owner of the mount has it done.
   */
  readonly setuidRefusal: Enforcement;
  readonly readOnlyRoot: Enforcement;
  readonly noNetwork: Enforcement;
  /** Memory of all processes together; a substitute when it is per process only. */
  readonly memoryLimit: Enforcement;
  readonly cpuLimit: Enforcement;
  readonly pidsLimit: Enforcement;
  /**
   * Where scratch lives: `disk`, sized, or `memory`: a sized tmpfs whose bytes count as memory; `memoryOrDisk`: in memory
   * up to half of its limit, and sized on disk as soon as a container is given more in all. `none`: it has no size.
   */
  readonly scratch: "disk" | "memory" | "memoryOrDisk" | "none";
  /**
   * How the files are limited that programs write to a writable root (`ContainerSpec.writableRoot`), scratch apart;
   * `no`: it is not available.
   */
  readonly diskLimit: Enforcement;
  /**
   * Whether containers can get files of this machine (`ContainerSpec.mounts`): not those of an engine elsewhere. Without
   * it they get copies of folders that never change, and no others.
   */
  readonly hostPaths: boolean;
  /** Whether out-of-memory kills are counted, for children too. */
  readonly oomReporting: boolean;
  /** Whether the CPU time of its programs is told while they run; bytes of disks are where this kernel counts them. */
  readonly cpuReporting: boolean;
  /** Whether `ExecSpec.user` is honoured. */
  readonly execUser: boolean;
  /** Whether it is for `helperUser`, where it is for no other one. Left out: as `execUser`. */
  readonly helperUser?: boolean | undefined;
  /**
   * Which users programs may be at a caller's word: `any`, because each of them, root included, is one that nobody on the engine's
   * machine has; `ordinary`, where root inside is the person who runs the engine. Left out: none but their own.
   */
  readonly chosenUsers?: "any" | "ordinary" | undefined;
  /**
   * Whether all programs of a container share one network, loopback included, so that one of them can serve the others.
   * `none`: they have no network at all, and no way out can be given that is the only one.
   */
  readonly execNetwork: "shared" | "none";
}

/** Whether nothing but Python and Node programs runs: no shell, and nothing that needs one. */
export function runsInterpretersOnly({ programs }: Pick<Capabilities, "programs">): boolean {
  return programs === "interpretersOnly";
}

/**
 * Checks that programs of every kind run; `what` says what needs one, after "nothing can be run".
 * @throws UNSUPPORTED
 */
export function assertRunsAnyProgram(capabilities: Pick<Capabilities, "programs" | "isolation">, what: string): void {
  if (!runsInterpretersOnly(capabilities)) return;
  const { isolation } = capabilities;
  throw new GloveboxError("UNSUPPORTED", `At isolation ${isolation} nothing can be run ${what}.`, {
    suggestion: "Choose an engine with a higher isolation (`glovebox doctor` lists them).",
    context: { isolation },
  });
}

/** What an engine itself has found that an operator should know of; each part is one or two sentences. */
export interface EngineFinding {
  /** `warning`: sandboxes fail, or a wall is weaker than it could be; `note`: good to know. */
  readonly severity: "warning" | "note";
  readonly what: string;
  readonly why: string;
  /** What to do about it. */
  readonly fix: string;
}

/** One part of an engine that has a version of its own. */
export interface EngineComponent {
  /** The product's own name: `runc`, `containerd`, `Docker Engine`, `Podman Engine`, `bubblewrap`. */
  readonly name: string;
  /** As the part tells it, such as `1.1.5+ds1`. */
  readonly version: string;
  /** Its commit or package revision, such as `1.1.5+ds1-1+deb12u1`, where it tells one. */
  readonly build?: string | undefined;
  /** The OCI runtime that it is, if only runs that ask for that one use it. */
  readonly ociRuntime?: string | undefined;
}

/** How an engine's API is reached. */
export interface EngineConnection {
  readonly kind: "socket" | "tcp" | "ssh";
  /** Null without TLS, as over SSH, which encrypts by itself; `unverified`: whoever answers is taken for the engine. */
  readonly tls: "verified" | "unverified" | null;
  /** Whether it may lead to another machine. */
  readonly remote: boolean;
  /** Who named the endpoint, such as `DOCKER_HOST`. */
  readonly origin: string;
}

/** Who the root of a container is on the engine's host. */
export type ContainerRoot = "root" | "remapped" | "rootless";

/** Facts of how an engine is set up; a fact that it does not tell is left out. Judging them is not its business. */
export interface EngineSetup {
  readonly connection?: EngineConnection;
  /** Release of the kernel that its sandboxes share. */
  readonly kernel?: string;
  readonly containerRoot?: ContainerRoot;
  /** Systems of mandatory access control that confine its containers; none: an empty list. */
  readonly accessControl?: readonly ("apparmor" | "selinux")[];
  /** Plugins that decide over requests to its API. */
  readonly authorizationPlugins?: readonly string[];
  /** Where else its API is open, without a proof of who asks, to whoever can reach it: URLs. */
  readonly openAddresses?: readonly string[];
  /** Whether this process sets sandboxes up itself, with its own privileges. */
  readonly inProcess?: boolean;
  /** Whether the program that sets sandboxes up gains root by its setuid bit. */
  readonly setuid?: boolean;
  /** Whether programs are kept in by their own interpreters alone. */
  readonly guardsInterpreters?: boolean;
}
