/**
 * What an engine is given to make a container. The empty policy is the strictest: no network, all capabilities dropped,
 * no-new-privileges, our seccomp profile, read-only root, no writable place. Every field only opens.
 */
export interface ContainerSpec {
  /** Unique name, `[a-z0-9-]`, chosen by the caller so that an aborted `create` can be undone. */
  readonly name: string;
  /** Image reference; engines without images (`capabilities.images` false) run the host's own system read-only. */
  readonly image: string;
  /** Main process. Left out: the container stays up, by means of the engine's own, until it is removed. */
  readonly command?: readonly string[] | undefined;
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /** Absolute path inside; default `/`. */
  readonly workingDirectory?: string | undefined;
  /** `uid:gid` that `command` and each exec run as, unless an exec names another; default `programUser`. */
  readonly processUser?: string | undefined;
  /**
   * Capabilities of programs that are root, for installing; default none. Nobody can gain one that is not here. Where it is
   * given, if only empty, programs may also set setuid bits, and no mount may be writable.
   */
  readonly rootCapabilities?: readonly RootCapability[] | undefined;
  /** OCI runtime, one that `Engine.capabilities` accepted; default: the engine's own. */
  readonly ociRuntime?: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly limits: ContainerLimits;
  /** Writable places, each with a size of its own; their bytes may count as memory (`capabilities.scratch`). */
  readonly scratch: readonly ScratchSpec[];
  /**
   * Left out: the image's own files cannot be changed. Else they can, and are as they were in the next container; only
   * where `capabilities.diskLimit`, and whoever asks for it must watch `Container.writtenBytes`.
   */
  readonly writableRoot?: WritableRootSpec | undefined;
  /**
   * Files of this machine that it gets, only where `capabilities.hostPaths` unless they never change; no other host path
   * reaches it.
   */
  readonly mounts?: readonly MountSpec[] | undefined;
  /** Size of /dev/shm in bytes; default 64 MiB or an eighth of the memory limit, the smaller. */
  readonly sharedMemoryBytes?: number | undefined;
}

/** What installers need to give files and themselves to other users. */
export type RootCapability = "CHOWN" | "DAC_OVERRIDE" | "FOWNER" | "SETUID" | "SETGID";

/**
 * Open files of each process: what bounds the buffers of its sockets, which control groups do not always count. Servers and
 * the watchers of development tools stay far below; a watcher takes one for all the folders that it watches.
 */
export const defaultOpenFiles = 4_096;

/** All are hard limits for everything in the container together. */
export interface ContainerLimits {
  /** CPUs' worth of time, fractions allowed. */
  readonly cpus: number;
  /** Memory without swap. */
  readonly memoryBytes: number;
  /** Processes and threads together. */
  readonly pids: number;
  /** Open files per process; default `defaultOpenFiles`. */
  readonly openFiles?: number | undefined;
}

/** A writable folder, empty at the start, gone with the container, writable for every user inside (mode 1777). */
export interface ScratchSpec {
  /** Absolute path inside. */
  readonly path: string;
  readonly sizeBytes: number;
}

/** What a writable root has beside the image's files. */
export interface WritableRootSpec {
  /** Absolute paths of folders that are made where they are missing, writable for every user inside (mode 1777). */
  readonly folders: readonly string[];
}

/**
 * A file or folder of this machine as a container sees it: never with setuid programs or devices that have an effect.
 *
 * Writable ones are shown with what the operator has mounted below them. Of read-only ones an engine shows either that
 * too, read-only, or the empty folders beneath: nothing below can be written.
 */
export interface MountSpec {
  /** Absolute, there, and with no symbolic link in it: whoever names a path resolves it before it is allowed. */
  readonly source: string;
  /** Absolute path inside, not one of the system's own folders; it need not exist. */
  readonly target: string;
  /** Enforced from outside the container. */
  readonly readOnly: boolean;
  /**
   * A read-only folder whose files nobody ever changes, outside all scratch: an engine that cannot show files of this
   * machine gives a copy, which ends with the container. Files may be added to it, which a copy does not show. Default false.
   */
  readonly unchanging?: boolean | undefined;
  /**
   * What must be mounted, whatever the source leads to by then (SPEC MO2). Where the engine's kernel is this machine's,
   * a container with anything else there is removed at its start, before a program runs in it; `Container.mountsVerified`
   * says whether that could be compared. Only for containers without a command of their own. Default: not compared.
   */
  readonly identity?: MountIdentity | undefined;
}

/** A file or folder of this machine, named by what nobody can exchange. */
export interface MountIdentity {
  /** As `stat` tells them. */
  readonly device: bigint;
  readonly inode: bigint;
  /**
   * A name of the place itself, for the system's mounts, whatever its own name leads to: a descriptor of a live process
   * that holds it open. Null where there is none.
   */
  readonly heldAt: string | null;
  /** File system (`major:minor`) and path in it, as mount tables tell them; null where there are none. */
  readonly place: MountedPlace | null;
}

export interface MountedPlace {
  readonly device: string;
  readonly root: string;
}
