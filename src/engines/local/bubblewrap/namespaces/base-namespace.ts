import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { shellQuoted } from "../../../../base/processes/shell-quoted.ts";
import type { HostRoot } from "./host-root.ts";
import type { HostTools } from "./host-tools.ts";
import type { Interpreters } from "../../interpreters/interpreters.ts";
import { firstShell } from "../arguments/sandbox-view.ts";
import { makePipes, openPathOnly, openPipes, type PipeSet } from "../pipes/pipe-sets.ts";
import { setupEnd, withSetupProcess } from "./setup-process.ts";
import { sandboxHostname } from "../arguments/bwrap-arguments.ts";

/** Files of a sandbox's /etc, by name; they reveal nothing about the host. */
const etcFiles: Readonly<Record<string, string>> = {
  passwd: [
    "root:x:0:0:root:/tmp:/bin/sh",
    "nobody:x:65534:65534:nobody:/tmp:/bin/sh",
    "glovebox:x:1000:1000:glovebox:/tmp:/bin/sh",
    "",
  ].join("\n"),
  group: ["root:x:0:", "nogroup:x:65534:", "glovebox:x:1000:", ""].join("\n"),
  hosts: `127.0.0.1 localhost ${sandboxHostname}\n::1 localhost\n`,
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
 * with what sandboxes see beside the host's system: a made-up /etc, the interpreters, and the pipes of their streams.
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
  /** A first batch of pipes; the pool that takes them closes them. */
  readonly pipes: readonly PipeSet[];
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
  readonly signal?: AbortSignal | undefined;
}

/** Folders from which nothing is bound; the first that exists and hides no interpreter is used. */
const possibleFolders = ["/dev/shm", "/mnt", "/media", "/srv"];

/** More places than most containers have, so that few containers need to make one. */
const scratchPlaces = 6;

/**
 * Each mount costs every sandbox time, so what is small is copied. What is bound is bound recursively: in a user
 * namespace a mount may not be taken apart from what is mounted on it.
 *
 * It starts few processes, as a first run waits for each; copies, one for each folder, run beside the mounts. What cannot
 * be copied is left out.
 */
function scriptFor(folder: string, { tools, root, interpreters }: BaseNamespaceOptions): string {
  const { etcPaths } = root;
  const { binds } = interpreters;
  const etcFolders = Map.groupBy(etcPaths, (path) => dirname(path).slice(1));
  const [boundFolders, boundFiles] = [true, false].map((isFolder) =>
    binds.filter(({ source }) => isFolder === isDirectory(source)).map(({ target }) => `opt/${target}`),
  ) as [string[], string[]];
  const folders = [
    ...["etc", "opt/bin", "opt/first", "empty", "pipes", "mounts"],
    ...Array.from({ length: scratchPlaces }, (_, place) => `scratch/${place}`),
    ...[...etcFolders.keys(), ...boundFolders, ...boundFiles.map(dirname)],
  ];
  const words = (paths: Iterable<string>): string => Array.from(paths, shellQuoted).join(" ");
  return [
    "set -e\numask 022",
    `mount -n -t tmpfs -o size=16m,nr_inodes=4096,mode=755 glovebox ${shellQuoted(folder)}`,
    `cd ${shellQuoted(folder)}`,
    `mkdir -p ${words(new Set(folders))}`,
    `${shellQuoted(tools.bwrap)} --version >version &`,
    ...[...etcFolders].map(([target, sources]) => `cp -RP ${words(sources)} ${shellQuoted(target)} &`),
    ...boundFiles.map((file) => `: >${shellQuoted(file)}`),
    ...binds.map(({ source, target }) => `mount -n --rbind ${words([source, `opt/${target}`])}`),
    makePipes("pipes"),
    "wait",
    setupEnd,
    // The pipes stay, but no name leads to them any more.
    "umount -n -l pipes",
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
    placeFirstShell(`${inside}/opt/${firstShell}`);
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
        pipes: openPipes(`${inside}/pipes`),
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
 * it belongs to root. So the first process is closed to programs even where only file modes are checked.
 */
function placeFirstShell(path: string): void {
  copyFileSync("/bin/sh", path);
  chmodSync(path, 0o111);
}

function freeFolder(sources: readonly string[]): string {
  const hidesNone = (folder: string): boolean => !sources.some((source) => source.startsWith(`${folder}/`));
  return possibleFolders.find((folder) => existsSync(folder) && hidesNone(folder)) ?? "/dev/shm";
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}
