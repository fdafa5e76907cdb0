import type { MountSpec } from "../../container-spec.ts";
import type { SandboxUser } from "../local-spec.ts";
import type { HostRoot } from "./host-root.ts";

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
export const baseFolders = {
  etc: "/etc",
  opt: "/opt/glovebox",
} as const;

/** Where those of the host's interpreters appear that are not part of its system. */
export const interpreterFolder = "/opt/glovebox/bin";

/** The supervisor, under the base's `opt`: a copy that can be run but not read. */
export const supervisorFile = "first/supervisor";

/** Where it is inside. */
export const supervisorPath = `${baseFolders.opt}/${supervisorFile}`;

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
