import {
  chmodSync,
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { groupFile, hostsFile, passwdFile } from "../../user-names.ts";
import { shellQuoted } from "../../../base/shell-words.ts";
import type { HostRoot } from "./host-root.ts";
import type { HostTools } from "./host-tools.ts";
import type { Interpreters } from "../interpreters.ts";
import { supervisorFile } from "./sandbox-view.ts";
import { setupEnd, withSetupProcess } from "./setup-process.ts";
import { sandboxHostname } from "./bwrap-arguments.ts";

/** Files of a sandbox's /etc, by name; they reveal nothing about the host. */
const etcFiles: Readonly<Record<string, string>> = {
  passwd: passwdFile(),
  group: groupFile(),
  hosts: hostsFile(sandboxHostname),
  hostname: `${sandboxHostname}\n`,
  "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
};

/** Symbolic links of a sandbox's /etc, by name. */
const etcLinks: Readonly<Record<string, string>> = {
  mtab: "../proc/self/mounts",
  "os-release": "../usr/lib/os-release",
};

/**
 * A private mount namespace of the engine's own, from which every container's is copied. It holds a small file system
 * with what sandboxes see beside the host's system: a made-up /etc, the interpreters, and the supervisor.
 *
 * No process keeps it: the open descriptors do, so it is gone with this process, without anything left on the host.
 */
export interface BaseNamespace {
  /** Where the small file system is mounted; on the host this path stays empty. */
  readonly folder: string;
  readonly mountDescriptor: number;
  /** Of the user namespace that gives us the right to mount; null when we are root and need none. */
  readonly userDescriptor: number | null;
  /** Of the seccomp filter's file; opened anew for each reader. */
  readonly filterDescriptor: number;
  /** What `bwrap --version` printed, such as `bubblewrap 0.8.0`. */
  readonly bwrapVersion: string;
  close(): void;
}

export interface BaseNamespaceOptions {
  readonly tools: Pick<HostTools, "bwrap" | "unshare">;
  readonly isRoot: boolean;
  readonly root: HostRoot;
  readonly interpreters: Interpreters;
  readonly seccompFilter: Uint8Array;
  /** The supervisor's program. */
  readonly supervisor: Uint8Array;
  readonly signal?: AbortSignal | undefined;
}

/** Flag of open(2) for a descriptor that only names a file; Node has no name for it. */
export const openPathOnly = 0o10000000;

/** Folders from which nothing is bound; the first that exists and hides no interpreter is used. */
const possibleFolders = ["/dev/shm", "/mnt", "/media", "/srv"];

/** More places than most containers have, so that few containers need to make one. */
const scratchPlaces = 6;

/**
 * All sandboxes together get half of the file watchers that the kernel gives their user, so that a person keeps the other
 * half; it counts them in each user namespace on the way, and this one is above all sandboxes. Older kernels cannot.
 */
function keepHalfOfWatches(): string {
  return ["instances", "watches"]
    .map((kind) => [`/proc/sys/fs/inotify/max_user_${kind}`, `/proc/sys/user/max_inotify_${kind}`] as const)
    .filter(([all]) => existsSync(all))
    .map(([all, own]) => `{ echo ${Math.ceil(Number(readFileSync(all, "utf8")) / 2)} >${own}; } 2>/dev/null || :`)
    .join("\n");
}

/**
 * Each mount costs every sandbox time, so what is small is copied. What is bound is bound recursively: in a user
 * namespace a mount may not be taken apart from what is mounted on it.
 *
 * It starts few processes, as a first run waits for each; copies, one for each folder, run beside the mounts. What cannot
 * be copied is left out.
 */
function scriptFor(folder: string, { tools, isRoot, root, interpreters }: BaseNamespaceOptions): string {
  const { etcPaths } = root;
  const { binds } = interpreters;
  const etcFolders = Map.groupBy(etcPaths, (path) => dirname(path).slice(1));
  const [boundFolders, boundFiles] = [true, false].map((isFolder) =>
    binds.filter(({ source }) => isFolder === isDirectory(source)).map(({ target }) => `opt/${target}`),
  ) as [string[], string[]];
  const folders = [
    ...["etc", "opt/bin", "opt/first", "empty", "mounts"],
    ...Array.from({ length: scratchPlaces }, (_, place) => `scratch/${place}`),
    ...[...etcFolders.keys(), ...boundFolders, ...boundFiles.map(dirname)],
  ];
  const words = (paths: Iterable<string>): string => Array.from(paths, shellQuoted).join(" ");
  return [
    "set -e\numask 022",
    isRoot ? "" : keepHalfOfWatches(),
    `mount -n -t tmpfs -o size=16m,nr_inodes=4096,mode=755 glovebox ${shellQuoted(folder)}`,
    `cd ${shellQuoted(folder)}`,
    `mkdir -p ${words(new Set(folders))}`,
    `${shellQuoted(tools.bwrap)} --version >version &`,
    ...[...etcFolders].map(([target, sources]) => `cp -RP ${words(sources)} ${shellQuoted(target)} &`),
    ...boundFiles.map((file) => `: >${shellQuoted(file)}`),
    ...binds.map(({ source, target }) => `mount -n --rbind ${words([source, `opt/${target}`])}`),
    "wait",
    setupEnd,
  ].join("\n");
}

/** @throws Error with the kernel's or the tools' words when this host does not allow it, CANCELLED */
export async function openBaseNamespace(options: BaseNamespaceOptions): Promise<BaseNamespace> {
  const { interpreters, isRoot } = options;
  const folder = freeFolder(interpreters.binds.map(({ source }) => source));
  const script = scriptFor(folder, options);
  const namespaces = [...(isRoot ? [] : ["--user", "--map-root-user"]), "--mount", "--propagation", "slave"];
  const args = [...namespaces, "--", "/bin/sh", "-c", script];
  const { tools, signal } = options;
  return withSetupProcess({ file: tools.unshare, args, signal }, (processId) => {
    const inside = `/proc/${processId}/root${folder}`;
    for (const [path, text] of Object.entries(etcFiles)) {
      writeFileSync(`${inside}/etc/${path}`, text);
      // Whatever our own umask is.
      chmodSync(`${inside}/etc/${path}`, 0o644);
    }
    for (const [path, target] of Object.entries(etcLinks)) symlinkSync(target, `${inside}/etc/${path}`);
    for (const { name, target } of interpreters.links) symlinkSync(target, `${inside}/opt/${name}`);
    placeSupervisor(`${inside}/opt/${supervisorFile}`, options.supervisor);
    writeFileSync(`${inside}/filter`, options.seccompFilter);
    const bwrapVersion = readFileSync(`${inside}/version`, "utf8").trim();
    // What it can do goes by its version.
    if (bwrapVersion === "") throw new Error("bwrap --version said nothing");
    const open: number[] = [];
    const pin = (path: string, flags: number | "r"): number => {
      const descriptor = openSync(path, flags);
      open.push(descriptor);
      return descriptor;
    };
    const close = (): void => open.splice(0).forEach((descriptor) => closeSync(descriptor));
    try {
      return {
        folder,
        mountDescriptor: pin(`/proc/${processId}/ns/mnt`, "r"),
        userDescriptor: isRoot ? null : pin(`/proc/${processId}/ns/user`, "r"),
        filterDescriptor: pin(`${inside}/filter`, openPathOnly),
        bwrapVersion,
        close,
      };
    } catch (error) {
      close();
      throw error;
    }
  });
}

/**
 * The kernel treats a process whose program file it may not read as one with secrets: everything that /proc shows about
 * it belongs to root. So the supervisor is closed to programs even where only file modes are checked.
 */
function placeSupervisor(path: string, program: Uint8Array): void {
  writeFileSync(path, program);
  chmodSync(path, 0o555);
}

function freeFolder(sources: readonly string[]): string {
  const hidesNone = (folder: string): boolean => !sources.some((source) => source.startsWith(`${folder}/`));
  return possibleFolders.find((folder) => existsSync(folder) && hidesNone(folder)) ?? "/dev/shm";
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
