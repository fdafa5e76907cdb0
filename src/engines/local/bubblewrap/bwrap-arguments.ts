import type { MountSpec } from "../../container-spec.ts";
import type { SandboxUser } from "../local-spec.ts";
import type { HostRoot } from "./host-root.ts";
import type { UserLimit } from "../../container-users.ts";
import type { HostTools } from "./host-tools.ts";

/** Numbers of the descriptors that the launch of a sandbox passes on. */
export const descriptors = {
  /** What goes wrong, in words for people. */
  diagnostics: 2,
  mountNamespace: 3,
  userNamespace: 4,
  seccompFilter: 5,
  /** The stream to the supervisor, whose input and output it becomes. */
  stream: 6,
  /** Bubblewrap's options: they must not show in the host's process list. */
  options: 7,
} as const;

/** The first number that the launch does not use. */
export const firstFreeDescriptor = 8;

/** What a program inside sees, apart from the program itself. */
export interface SandboxView {
  readonly root: HostRoot;
  /** Folder of the engine's own namespace that holds what it has made; see `baseFolders`. */
  readonly base: string;
  /** The one user and group inside; null: there are two, and their namespace has been entered. */
  readonly shared: SandboxUser | null;
  /** Absolute paths of the writable places; the place at index n is mounted at `scratchFolder(base, n)`. */
  readonly scratchPaths: readonly string[];
  /** What else it gets of the host; the one at index n is mounted at `mountPlace(base, n)`. */
  readonly mounts: readonly Pick<MountSpec, "target" | "readOnly">[];
  /** Whether bubblewrap is new enough to forbid further user namespaces by itself (0.8). */
  readonly canDisableUserNamespaces: boolean;
}

/** Folders under the base, each shown in every sandbox at the path beside it. */
const baseFolders = {
  etc: "/etc",
  opt: "/opt/glovebox",
} as const;

/** Where those of the host's interpreters appear that are not part of its system. */
export const interpreterFolder = "/opt/glovebox/bin";

/** The supervisor, under the base's `opt`: a copy that can be run but not read. */
export const supervisorFile = "first/supervisor";

/** Where it is inside. */
export const supervisorPath = `${baseFolders.opt}/${supervisorFile}`;

/** Where all of them are. */
export function scratchRoot(base: string): string {
  return `${base}/scratch`;
}

/** Hostname inside. */
export const sandboxHostname = "glovebox";

/**
 * What the supervisor begins with where it is another user than its programs: to start and to end them. The fourth takes
 * every capability from all that it starts, for good; the fifth opens the resolver's port on its own loopback; then it gives
 * both up.
 */
const supervisorCapabilities = ["kill", "setgid", "setuid", "setpcap", "net_bind_service"] as const;

/**
 * Bubblewrap's options for a sandbox: new namespaces of every kind; the host's system read-only; nothing writable except
 * the sized scratch; no variable, and no capability but those of the supervisor.
 *
 * Apart, the user namespace has been entered before: bubblewrap's own has one user only.
 */
export function bwrapArguments(view: SandboxView): readonly string[] {
  const { base, root, shared } = view;
  const empty = `${base}/empty`;
  return [
    ...["pid", "net", "ipc", "uts", "cgroup"].map((kind) => `--unshare-${kind}`),
    ...(shared === null ? [] : sharedUser(shared, view.canDisableUserNamespaces)),
    ...["--hostname", sandboxHostname, "--die-with-parent", "--new-session", "--as-pid-1"],
    ...["--cap-drop", "ALL"],
    // A supervisor that shares its programs' user drops its own bounding set before it begins.
    ...(shared === null ? supervisorCapabilities : ["setpcap"]).flatMap((name) => [
      "--cap-add",
      `CAP_${name.toUpperCase()}`,
    ]),
    ...["--seccomp", String(descriptors.seccompFilter)],
    ...systemArguments(root),
    ...(root.hasUsrLocal ? bind(empty, "/usr/local") : []),
    ...Object.entries(baseFolders).flatMap(([folder, path]) => [...parents(path), ...bind(`${base}/${folder}`, path)]),
    ...["--proc", "/proc"],
    ...root.coveredFiles.flatMap((path) => bind("/dev/null", path)),
    ...root.coveredFolders.flatMap((path) => bind(empty, path)),
    ...root.readOnlyFolders.flatMap((path) => bind(path, path)),
    ...["--dev", "/dev", "--bind", scratchFolder(base, -1), "/dev/shm"],
    ...outermostFirst(writableAndMounted(view)).flatMap(({ option, source, target }) => [
      ...parents(target),
      ...[option, source, target],
    ]),
    ...["--remount-ro", "/", "--remount-ro", "/dev", "--clearenv"],
  ];
}

/** The options as bubblewrap reads them from a descriptor. */
export function encodeOptions(options: readonly string[]): string {
  return options.map((option) => `${option}\0`).join("");
}

interface Place {
  readonly option: "--bind" | "--ro-bind";
  readonly source: string;
  readonly target: string;
}

/** How one sandbox is entered from the host. */
export interface Launch {
  readonly tools: Pick<HostTools, "bwrap" | "nsenter" | "prlimit" | "setpriv">;
  /**
   * Whose user namespace is entered: that of the engine, because we are not root; or the container's own, whose root the
   * supervisor is.
   */
  readonly userNamespace: "engine" | "container";
  /** Files that a process writes 0 to in order to join the container's groups. */
  readonly groupFiles: readonly string[];
  readonly openFiles: number;
  readonly limits: ProcessLimits;
}

/** Limits that the kernel enforces for each process, for hosts without control groups. */
interface ProcessLimits {
  /** Private writable memory of one process. */
  readonly dataBytes: number | null;
  /** Processes and threads of the sandbox's user, ours included. */
  readonly processes: number | null;
  /** Of what the kernel counts for each user, in the sandbox's user namespace and again outside. */
  readonly ofUser: readonly UserLimit[];
}

/** $1 open files, then files of groups, then `--` and what to run, which gets the stream as its input and output. */
const enterLimits = `
umask 022
ulimit -c 0 && ulimit -n "$1" || exit 1
shift
while [ "$1" != -- ]; do
  echo 0 >"$1" || exit 1
  shift
done
shift
exec "$@" <&${descriptors.stream} >&${descriptors.stream} ${descriptors.stream}>&-
`;

/** Arguments of `nsenter` into the engine's or a container's mounts, whose descriptors were handed down. */
export function enterArguments(inUserNamespace: boolean): readonly string[] {
  return [
    `--mount=/proc/self/fd/${descriptors.mountNamespace}`,
    ...(inUserNamespace ? [`--user=/proc/self/fd/${descriptors.userNamespace}`, "--preserve-credentials"] : []),
    "--",
  ];
}

/**
 * Arguments of `nsenter` that run the supervisor as the first process of a new sandbox. It closes all descriptors but its
 * stream and diagnostics.
 */
export function launchArguments(launch: Launch): readonly string[] {
  const { tools, userNamespace, limits } = launch;
  // After the groups, which only the host's root may join.
  const become = [tools.nsenter, `--user=/proc/self/fd/${descriptors.userNamespace}`, "--setuid", "0", "--setgid", "0"];
  return [
    ...enterArguments(userNamespace === "engine"),
    ...["/bin/sh", "-c", enterLimits, "sh", String(launch.openFiles), ...launch.groupFiles, "--"],
    ...(userNamespace === "container" ? [...become, "--"] : []),
    ...[tools.bwrap, "--args", String(descriptors.options)],
    ...[
      "--",
      ...bounded(tools.prlimit, limits),
      tools.setpriv,
      ...keeping(userNamespace === "container"),
      supervisorPath,
    ],
  ];
}

/** Drops every capability but the supervisor's: what is not in its bounding set no program can ever gain. */
function keeping(isApart: boolean): readonly string[] {
  const kept = ["-all", ...(isApart ? supervisorCapabilities.map((name) => `+${name}`) : [])].join();
  return [`--ambient-caps=${kept}`, `--inh-caps=${kept}`, `--bounding-set=${kept}`, "--no-new-privs", "--"];
}

/** Inside, where the kernel counts the sandbox's own processes only. */
function bounded(prlimit: string, { dataBytes, processes, ofUser }: ProcessLimits): readonly string[] {
  const bounds = [
    ...(dataBytes === null ? [] : [`--data=${dataBytes}:${dataBytes}`]),
    ...(processes === null ? [] : [`--nproc=${processes}:${processes}`]),
    ...ofUser.map(({ name, value }) => `--${name}=${value}:${value}`),
  ];
  return bounds.length === 0 ? [] : [prlimit, ...bounds];
}

/** Where the writable place at an index is mounted in a container's namespace; index -1 is /dev/shm. */
function scratchFolder(base: string, index: number): string {
  return `${scratchRoot(base)}/${index + 1}`;
}

/** Where the host's file or folder of the mount at an index is mounted in a container's namespace. */
function mountPlace(base: string, index: number): string {
  return `${base}/mounts/${index}`;
}

/** A user namespace of bubblewrap's own, with one user: the supervisor's and its programs'. */
function sharedUser({ uid, gid }: SandboxUser, canDisableUserNamespaces: boolean): readonly string[] {
  return [
    "--unshare-user",
    ...(canDisableUserNamespaces ? ["--disable-userns"] : []),
    ...["--uid", String(uid), "--gid", String(gid)],
  ];
}

/** Bubblewrap's options for the host's system, read-only. */
function systemArguments({ entries }: HostRoot): readonly string[] {
  return [
    ...bind("/usr", "/usr"),
    ...entries.flatMap(({ path, linkTarget }) =>
      linkTarget === null ? bind(path, path) : ["--symlink", linkTarget, path],
    ),
  ];
}

/** The folders above a place, open to everyone: by itself bubblewrap makes them for its own user. */
function parents(target: string): readonly string[] {
  const names = target.split("/").slice(1, -1);
  return names.flatMap((_, index) => ["--dir", `/${names.slice(0, index + 1).join("/")}`]);
}

function bind(source: string, target: string): readonly string[] {
  return ["--ro-bind", source, target];
}

/** Bubblewrap binds everything that is mounted below too, read-only where asked, and never with setuid or devices. */
function writableAndMounted({ base, scratchPaths, mounts }: SandboxView): readonly Place[] {
  return [
    ...scratchPaths.map((target, index) => ({ option: "--bind", source: scratchFolder(base, index), target }) as const),
    ...mounts.map(
      ({ target, readOnly }, index) =>
        ({ option: readOnly ? "--ro-bind" : "--bind", source: mountPlace(base, index), target }) as const,
    ),
  ];
}

/** A place inside another one must be mounted after it, or the other would hide it. */
function outermostFirst(places: readonly Place[]): readonly Place[] {
  const depth = ({ target }: Place): number => target.split("/").length;
  return places.toSorted((a, b) => depth(a) - depth(b));
}
