import { chmodSync, closeSync, copyFileSync, existsSync, openSync, symlinkSync, writeFileSync } from "node:fs";
import type { HostRoot } from "./host-root.ts";
import type { HostTools } from "./host-tools.ts";
import type { Interpreters } from "../../interpreters/interpreters.ts";
import { firstShell } from "../arguments/sandbox-view.ts";
import { setupEnd, withSetupProcess } from "./setup-process.ts";
import { sandboxHostname } from "../arguments/bwrap-arguments.ts";

/** Files of a sandbox's /etc that tell nothing of the host, by name. */
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
  /** Where the small file system is mounted; on the host nothing is there. */
  readonly folder: string;
  readonly mountDescriptor: number;
  /** Of the user namespace that gives us the right to mount; null when we are root and need none. */
  readonly userDescriptor: number | null;
  /** Of the seccomp filter's file; opened anew for each reader. */
  readonly filterDescriptor: number;
  close(): void;
}

export interface BaseNamespaceOptions {
  readonly tools: Pick<HostTools, "unshare">;
  readonly isRoot: boolean;
  readonly root: HostRoot;
  readonly interpreters: Interpreters;
  readonly seccompFilter: Uint8Array;
  readonly signal?: AbortSignal | undefined;
}

/** Flag of open(2) for a descriptor that only names a file; Node has no name for it. */
export const openPathOnly = 0o10000000;

/** Folders that nothing is bound from; the first that is there and hides no interpreter is taken. */
const possibleFolders = ["/dev/shm", "/mnt", "/media", "/srv"];

/**
 * $1 the folder, then `copy` or `bind` for each thing of the host, its path and where it is to appear.
 * Each mount costs every sandbox time, so what is small is copied. What is bound is bound recursively: in a user
 * namespace a mount may not be taken apart from what is mounted on it.
 */
const script = `
set -e
umask 022
mount -n -t tmpfs -o size=16m,nr_inodes=4096,mode=755 glovebox "$1"
cd "$1"
mkdir etc opt opt/bin opt/first empty pipes scratch mounts
shift
while [ $# -gt 0 ]; do
  mkdir -p "\${3%/*}"
  case $1 in
  copy) cp -RP "$2" "$3" || : ;;
  bind)
    if [ -d "$2" ]; then mkdir -p "$3"; else : >"$3"; fi
    mount -n --rbind "$2" "$3"
    ;;
  esac
  shift 3
done
${setupEnd}`;

/** @throws Error with the kernel's or the tools' words when this host does not allow it, CANCELLED */
export async function openBaseNamespace(options: BaseNamespaceOptions): Promise<BaseNamespace> {
  const { root, interpreters, isRoot } = options;
  const folder = freeFolder(interpreters.binds.map(({ source }) => source));
  const binds = [
    ...root.etcPaths.flatMap((path) => ["copy", path, path.slice(1)]),
    ...interpreters.binds.flatMap(({ source, target }) => ["bind", source, `opt/${target}`]),
  ];
  const namespaces = [...(isRoot ? [] : ["--user", "--map-root-user"]), "--mount", "--propagation", "slave"];
  const args = [...namespaces, "--", "/bin/sh", "-c", script, "sh", folder, ...binds];
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
        close,
      };
    } catch (error) {
      close();
      throw error;
    }
  });
}

/**
 * The kernel treats a process whose program it may not read as one with secrets: all that /proc shows of it belongs to
 * root. So the first process is closed to programs also where they only look at modes.
 */
function placeFirstShell(path: string): void {
  copyFileSync("/bin/sh", path);
  chmodSync(path, 0o111);
}

function freeFolder(sources: readonly string[]): string {
  const hidesNone = (folder: string): boolean => !sources.some((source) => source.startsWith(`${folder}/`));
  return possibleFolders.find((folder) => existsSync(folder) && hidesNone(folder)) ?? "/dev/shm";
}
