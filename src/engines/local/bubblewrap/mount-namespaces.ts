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
import { groupFile, hostsFile, passwdFile } from "../../container-users.ts";
import { shellQuoted } from "../../../base/shell-words.ts";
import type { HostRoot } from "./host-root.ts";
import { setupEnd, withSetupProcess, type HostTools } from "./host-tools.ts";
import type { Interpreters } from "../interpreters.ts";
import { supervisorFile, sandboxHostname, scratchRoot, enterArguments } from "./bwrap-arguments.ts";
import type { MountSpec, ScratchSpec } from "../../container-spec.ts";

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

interface BaseNamespaceOptions {
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
const openPathOnly = 0o10000000;

/** Folders from which nothing is bound; the first that exists and hides no interpreter is used. */
const possibleFolders = ["/dev/shm", "/mnt", "/media", "/srv"];

/** More places than most containers have, so that few containers need to make one. */
const scratchPlaces = 6;

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

interface ContainerNamespaceOptions {
  readonly tools: Pick<HostTools, "nsenter" | "unshare">;
  readonly base: BaseNamespace;
  readonly sharedMemoryBytes: number;
  readonly scratch: readonly ScratchSpec[];
  readonly mounts: readonly MountSpec[];
  /** The host's user that owns the scratch, who is no program; null: our own, who is. */
  readonly owner: number | null;
  /** As `Cgroups.announcement`: the container's first program joins its groups next. */
  readonly announcement: string | null;
  readonly signal?: AbortSignal | undefined;
}

/**
 * $1 the base, $2 further mount options, $3 a file to write 0 to or nothing, then size and number of inodes of each place in order, \`--\`, and the sources
 * of what is mounted besides. Those are bound here because the sandbox's own user may not be able to reach them.
 */
const script = `
set -e
cd "$1/scratch"
owner=$2
[ -z "$3" ] || (echo 0 >"$3") >/dev/null 2>&1 &
shift 3
place=0
while [ "$1" != -- ]; do
  [ -d "$place" ] || mkdir -p "$place"
  mount -n -t tmpfs -o "size=$1,nr_inodes=$2,mode=1777$owner" glovebox "$place"
  place=$((place + 1))
  shift 2
done
shift
cd ../mounts
[ $# -eq 0 ] || mount -n -t tmpfs -o size=64k,mode=755 glovebox .
cd ../mounts
place=0
for source in "$@"; do
  if [ -d "$source" ]; then mkdir "$place"; else : >"$place"; fi
  mount -n --rbind "$source" "$place"
  place=$((place + 1))
done
${setupEnd}`;

const pageBytes = 4096;
const minInodes = 1024;

/** The mounts of one container. Its descriptors are all that keeps them, and with them the container's files. */
export class ContainerMounts {
  readonly descriptor: number;
  readonly #scratch: readonly number[];

  constructor(descriptor: number, scratch: readonly number[]) {
    this.descriptor = descriptor;
    this.#scratch = scratch;
  }

  /** Opens the scratch places to everybody again, which a program may have closed to the next one where they are its own. */
  openScratch(): void {
    for (const place of this.#scratch) chmodSync(`/proc/self/fd/${place}`, 0o1777);
  }

  close(): void {
    for (const descriptor of [this.descriptor, ...this.#scratch]) closeSync(descriptor);
  }
}

/**
 * A copy of the engine's namespace with the container's own sized scratch mounted.
 * @throws Error with the tools' words, CANCELLED
 */
export async function openContainerMounts(options: ContainerNamespaceOptions): Promise<ContainerMounts> {
  const { base, tools, owner, announcement, signal } = options;
  const sizes = [options.sharedMemoryBytes, ...options.scratch.map(({ sizeBytes }) => sizeBytes)];
  const owned = owner === null ? "" : `,uid=${owner},gid=${owner}`;
  const places = sizes.flatMap((bytes) => [String(bytes), String(inodesFor(bytes))]);
  const inUserNamespace = base.userDescriptor !== null;
  const args = [
    ...enterArguments(inUserNamespace),
    ...[tools.unshare, "--mount", "--propagation", "unchanged", "--"],
    ...["/bin/sh", "-c", script, "sh", base.folder, owned, announcement ?? ""],
    ...[...places, "--", ...options.mounts.map(({ source }) => source)],
  ];
  const descriptors = [base.mountDescriptor, base.userDescriptor ?? base.mountDescriptor];
  return withSetupProcess({ file: tools.nsenter, args, descriptors, signal }, (processId) => {
    const inside = `/proc/${processId}/root${scratchRoot(base.folder)}`;
    const named = owner === null ? sizes.map((_, place) => openSync(`${inside}/${place}`, openPathOnly)) : [];
    return new ContainerMounts(openSync(`/proc/${processId}/ns/mnt`, "r"), named);
  });
}

/** One for each page, so that empty files cannot use more kernel memory than the scratch itself may. */
function inodesFor(bytes: number): number {
  return Math.max(minInodes, Math.floor(bytes / pageBytes));
}

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
