import type { HostRoot } from "../namespaces/host-root.ts";
import { descriptors } from "./descriptors.ts";
import { baseFolders, mountPlace, scratchFolder, type SandboxView } from "./sandbox-view.ts";

/** Hostname inside. */
export const sandboxHostname = "glovebox";

/**
 * Bubblewrap's options for one program: new namespaces of every kind except the network's, which all programs of the
 * container share and which has been entered before; the host's system read-only; nothing writable except the sized
 * scratch; and one capability kept by the first process alone.
 * CAP_SETPCAP allows next to nothing, but a process without it may not open the memory of one that has it. This closes
 * the first process to the program (SPEC SC2), which runs without the capability.
 */
export function bwrapArguments(view: SandboxView): readonly string[] {
  const { base, root } = view;
  const empty = `${base}/empty`;
  return [
    ...["user", "pid", "ipc", "uts", "cgroup"].map((kind) => `--unshare-${kind}`),
    ...(view.canDisableUserNamespaces ? ["--disable-userns"] : []),
    ...["--uid", String(view.uid), "--gid", String(view.gid), "--hostname", sandboxHostname],
    ...["--die-with-parent", "--new-session", "--as-pid-1"],
    ...["--cap-drop", "ALL", "--cap-add", "CAP_SETPCAP"],
    ...["--seccomp", String(descriptors.seccompFilter)],
    ...systemArguments(root),
    ...(root.hasUsrLocal ? bind(empty, "/usr/local") : []),
    ...Object.entries(baseFolders).flatMap(([folder, path]) => bind(`${base}/${folder}`, path)),
    ...["--proc", "/proc"],
    ...root.coveredFiles.flatMap((path) => bind("/dev/null", path)),
    ...root.coveredFolders.flatMap((path) => bind(empty, path)),
    ...root.readOnlyFolders.flatMap((path) => bind(path, path)),
    ...["--dev", "/dev", "--bind", scratchFolder(base, -1), "/dev/shm"],
    ...outermostFirst(writableAndMounted(view)).flatMap(({ option, source, target }) => [option, source, target]),
    ...["--remount-ro", "/", "--remount-ro", "/dev"],
    "--clearenv",
    ...Object.entries(view.environment).flatMap(([name, value]) => ["--setenv", name, value]),
  ];
}

/** Bubblewrap's options for the host's system, read-only. */
export function systemArguments({ entries }: HostRoot): readonly string[] {
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
