import type { MountSpec } from "../../../container-spec.ts";
import type { HostRoot } from "../namespaces/host-root.ts";

/** What a program inside sees, apart from the program itself. */
export interface SandboxView {
  readonly root: HostRoot;
  /** Folder of the engine's own namespace that holds what it has made; see `baseFolders`. */
  readonly base: string;
  /** User and group inside. */
  readonly uid: number;
  readonly gid: number;
  /** Absolute paths of the writable places; the place at index n is mounted at `scratchFolder(base, n)`. */
  readonly scratchPaths: readonly string[];
  /** What else it gets of the host; the one at index n is mounted at `mountPlace(base, n)`. */
  readonly mounts: readonly Pick<MountSpec, "target" | "readOnly">[];
  /** Of the first process: none of a caller's variables keeps its name here. */
  readonly environment: Readonly<Record<string, string>>;
  /** Whether bubblewrap is new enough to forbid further user namespaces by itself (0.8). */
  readonly canDisableUserNamespaces: boolean;
}

/** Folders under the base, each shown in every sandbox at the path beside it. */
export const baseFolders = {
  etc: "/etc",
  opt: "/opt/glovebox",
} as const;

/** Where those of the host's interpreters appear that are not part of its system. */
export const interpreterFolder = "/opt/glovebox/bin";

/** Shell of a sandbox's first process, under the base's `opt`: a copy that can be run but not read. */
export const firstShell = "first/sh";

/** Where the writable place at an index is mounted in a container's namespace; index -1 is /dev/shm. */
export function scratchFolder(base: string, index: number): string {
  return `${scratchRoot(base)}/${index + 1}`;
}

/** Where all of them are. */
export function scratchRoot(base: string): string {
  return `${base}/scratch`;
}

/** Where the host's file or folder of the mount at an index is mounted in a container's namespace. */
export function mountPlace(base: string, index: number): string {
  return `${base}/mounts/${index}`;
}
