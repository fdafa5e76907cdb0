import { posix } from "node:path";
import type { MountEntry } from "../../base/mount-table.ts";

/** Files that engines mount into each container from a folder that is named by its id. */
const filesOfEngine = new Set(["/etc/hostname", "/etc/hosts", "/etc/resolv.conf"]);
const folderOfContainer = /\/(?:overlay-)?containers\/([0-9a-f]{64})\//;

/**
 * Id of the container that a process runs in, from its mount table; null when it runs in none that can be identified.
 */
export function ownContainerId(table: readonly MountEntry[]): string | null {
  for (const { mountPoint, root } of table) {
    const id = filesOfEngine.has(mountPoint) ? folderOfContainer.exec(root)?.[1] : undefined;
    if (id !== undefined) return id;
  }
  return null;
}

/** A mount in the engine's inspection of a container. */
export interface InspectedMount {
  /** Path on the engine's machine; empty or missing where there is none, as of a tmpfs. */
  readonly Source?: string | null;
  readonly Destination?: string | null;
  readonly RW?: boolean;
}

/** What a container shares with its engine's machine. */
export interface OwnContainer {
  readonly mounts: readonly InspectedMount[];
  /** Everywhere something is mounted in it, including tmpfs, which an inspection leaves out. */
  readonly mountPoints: readonly string[];
}

/** Which files of this process an engine can mount, and under which paths. */
export type SharedFiles =
  /** None: it is, or may be, on another machine. */
  | { readonly kind: "none" }
  /** All, by the paths that this process knows them by. */
  | { readonly kind: "same" }
  /** This process runs in one of the engine's containers: what is mounted there, by the engine's paths. */
  | ({ readonly kind: "container" } & OwnContainer);

/** A path on the engine's machine. */
export interface PathOutside {
  readonly path: string;
  /** Whether the container may write there. */
  readonly writable: boolean;
}

/**
 * The place on the engine's machine of a real path of a container; null for what the container does not share with that
 * machine, such as its own root.
 */
export function pathOutside(path: string, { mounts, mountPoints }: OwnContainer): PathOutside | null {
  const above = mountPoints.filter((mountPoint) => isWithin(path, mountPoint));
  const innermost = above.toSorted((one, other) => other.length - one.length)[0];
  const { Source, Destination, RW } = mounts.find((mount) => mount.Destination === innermost) ?? {};
  if (!Source || !Destination || !posix.isAbsolute(Source)) return null;
  return { path: posix.join(Source, posix.relative(Destination, path)), writable: RW === true };
}

function isWithin(path: string, folder: string): boolean {
  const below = posix.relative(folder, path);
  return below !== ".." && !below.startsWith("../") && !posix.isAbsolute(below);
}
