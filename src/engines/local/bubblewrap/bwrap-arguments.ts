import type { SandboxUser } from "../local-spec.ts";
import type { HostRoot } from "./host-root.ts";
import { descriptors } from "./descriptors.ts";
import { baseFolders, mountPlace, scratchFolder, type SandboxView } from "./sandbox-view.ts";

/** Hostname inside. */
export const sandboxHostname = "glovebox";

/**
 * What the supervisor begins with where it is another user than its programs: to start and to end them. The fourth takes
 * every capability from all that it starts, for good; the fifth opens the resolver's port on its own loopback; then it gives
 * both up.
 */
export const supervisorCapabilities = ["kill", "setgid", "setuid", "setpcap", "net_bind_service"] as const;

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

/** The options as bubblewrap reads them from a descriptor. */
export function encodeOptions(options: readonly string[]): string {
  return options.map((option) => `${option}\0`).join("");
}

/** The folders above a place, open to everyone: by itself bubblewrap makes them for its own user. */
function parents(target: string): readonly string[] {
  const names = target.split("/").slice(1, -1);
  return names.flatMap((_, index) => ["--dir", `/${names.slice(0, index + 1).join("/")}`]);
}

function bind(source: string, target: string): readonly string[] {
  return ["--ro-bind", source, target];
}

interface Place {
  readonly option: "--bind" | "--ro-bind";
  readonly source: string;
  readonly target: string;
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
