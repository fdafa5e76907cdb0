import type { mountUses } from "../../operations/contract/wire-values.ts";
import path, { type PlatformPath } from "node:path";
import type { BlockedPattern } from "./blocked-pattern.ts";

/** What a host path is requested for: as a project or a file of one, or as an additional mount. */
export type MountUse = (typeof mountUses)[number];

/** Who said that a folder may be used. */
export type RootSource = "allowlist" | "project_roots" | "working_directory";

/** A folder below which paths may be used. */
export interface MountRoot {
  /** Real path: absolute, without links. */
  readonly path: string;
  readonly source: RootSource;
  /** Where it is listed, such as `allowedRoots[0]`; shown to clients in its place. */
  readonly listedAs: string;
  readonly allowReadWrite: boolean;
  readonly description: string | null;
}

/** A place that no sandbox may get hold of: neither it, nor what is in it, nor a folder that holds it. */
export interface ProtectedPlace {
  /** Real path. */
  readonly path: string;
  /** What it is, in words that name no path of the host. */
  readonly what: string;
}

/** What may be handed to sandboxes from this machine's disk (SPEC MO5, MO6). */
export interface MountPolicy {
  readonly roots: readonly MountRoot[];
  /** Real paths below one of which a path must lie as well; undefined: no such bound. */
  readonly within?: readonly string[] | undefined;
  readonly blockedPatterns: readonly BlockedPattern[];
  readonly protectedPlaces: readonly ProtectedPlace[];
  /** Whether only the main group gets additional mounts that are writable. */
  readonly nonMainReadOnly: boolean;
  /** Whether there is a mount allowlist; without one there are no additional mounts. */
  readonly hasAllowlist: boolean;
  /** The setting that lists folders for projects, in the words of the front end: `GLOVEBOX_PROJECT_ROOTS`, for example. */
  readonly projectsSetting: string;
}

/** Whether a path is a folder or below it; both absolute, normal and real. `flavour`: this machine's kind of paths. */
export function isWithin(child: string, folder: string, flavour: PlatformPath = path): boolean {
  const relative = flavour.relative(folder, child);
  if (relative === "") return true;
  return relative !== ".." && !relative.startsWith(`..${flavour.sep}`) && !flavour.isAbsolute(relative);
}

/** The protected place that a real path is, is in, or holds. */
export function protectedBy({ protectedPlaces }: MountPolicy, realPath: string): ProtectedPlace | undefined {
  return protectedPlaces.find((place) => isWithin(place.path, realPath) || isWithin(realPath, place.path));
}

/**
 * The root that decides about a real path, undefined when it is below none, or outside the bound.
 *
 * Listed roots come before the working directory, the innermost comes first, the allowlist before `project_roots`, and
 * of two entries for one folder the read-only one.
 */
export function rootOf({ roots, within }: MountPolicy, realPath: string, use: MountUse): MountRoot | undefined {
  if (within !== undefined && !within.some((folder) => isWithin(realPath, folder))) return undefined;
  const rank = (root: MountRoot): readonly number[] => [
    root.source === "working_directory" ? 0 : 1,
    root.path.length,
    root.source === "allowlist" ? 1 : 0,
    root.allowReadWrite ? 0 : 1,
  ];
  return roots
    .filter((root) => (use === "project" || root.source === "allowlist") && isWithin(realPath, root.path))
    .toSorted((a, b) => compare(rank(b), rank(a)))[0];
}

function compare(a: readonly number[], b: readonly number[]): number {
  const differs = a.findIndex((value, index) => value !== b[index]);
  return differs === -1 ? 0 : (a[differs] ?? 0) - (b[differs] ?? 0);
}
