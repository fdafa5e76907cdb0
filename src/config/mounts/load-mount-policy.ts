import path from "node:path";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { blockedPatterns } from "../../policy/mounts/blocked-pattern.ts";
import { isWithin, type MountPolicy, type MountRoot } from "../../policy/mounts/mount-policy.ts";
import type { Config } from "../config.ts";
import type { Host } from "../host/host.ts";
import { allowlistPlaces, readAllowlist, type AllowlistFile } from "./allowlist-file.ts";
import { expandHome } from "./expand-home.ts";
import { protectedPlaces } from "./protected-places.ts";
import { existingPlace, realPlace } from "./real-place.ts";

export interface MountSources {
  readonly config: Pick<Config, "mountAllowlist" | "projectRoots" | "engineEnvironment" | "keysFile"> & {
    readonly packages: Pick<Config["packages"], "directory">;
  };
  readonly host: Pick<
    Host,
    "platform" | "uid" | "environment" | "homeDirectory" | "workingDirectory" | "stateDirectory" | "temporaryDirectory"
  >;
  /** Whether the working directory is a root if none are configured: true on the user's own machine. */
  readonly workingDirectoryIsRoot: boolean;
  /** The setting that lists folders for projects, as refusals name it. */
  readonly projectsSetting: string;
}

/** What sandboxes may get, and where that is configured. */
export interface LoadedMountPolicy {
  readonly policy: MountPolicy;
  readonly allowlist: AllowlistFile | null;
  /** Where the allowlist is looked for, in order. */
  readonly lookedFor: readonly string[];
  /** Listed folders that do not exist. */
  readonly missingRoots: readonly ListedRoot[];
  /** What the operator should know, one sentence each. */
  readonly notices: readonly string[];
}

/** A root as configured. */
export interface ListedRoot extends Omit<MountRoot, "path"> {
  readonly listedPath: string;
}

/**
 * The current mount policy: the allowlist is read each time, so an edit applies from the next request on.
 * @throws INVALID_REQUEST for a bad allowlist, for one that lies below a listed root, and for `/` as a root
 */
export async function loadMountPolicy(sources: MountSources): Promise<LoadedMountPolicy> {
  const { config, host } = sources;
  const places = allowlistPlaces(config, host);
  const allowlist = await readAllowlist(places, host);
  const listed = listedRoots(sources, allowlist);
  const real = await Promise.all(
    listed.map(async ({ listedPath, ...root }) => ({ ...root, path: await existingPlace(listedPath) })),
  );
  const roots = real
    .flatMap(({ path: realPath, ...root }) => (realPath === null ? [] : [{ ...root, path: realPath }]))
    .filter((root) => root.source !== "working_directory" || root.path !== path.parse(root.path).root);
  for (const root of roots) refuseWholeFileSystem(root);
  if (allowlist !== null) await refuseAllowlistInside(allowlist, roots);
  return {
    policy: {
      roots,
      blockedPatterns: blockedPatterns(allowlist?.content.blockedPatterns ?? []),
      protectedPlaces: await protectedPlaces(
        host,
        config,
        places.map((place) => place.path),
      ),
      nonMainReadOnly: allowlist?.content.nonMainReadOnly ?? true,
      hasAllowlist: allowlist !== null,
      projectsSetting: sources.projectsSetting,
    },
    allowlist,
    lookedFor: places.map((place) => place.path),
    missingRoots: listed.filter((_, index) => real[index]?.path === null),
    notices:
      allowlist?.origin === "fft_nano"
        ? ["There is no mount allowlist for Glovebox, so FFT_nano's is used (docs/mounts.md)."]
        : [],
  };
}

function listedRoots({ config, host, ...sources }: MountSources, allowlist: AllowlistFile | null): ListedRoot[] {
  const { homeDirectory, workingDirectory } = host;
  const allowed = (allowlist?.content.allowedRoots ?? []).map((root, index): ListedRoot => ({
    listedPath: expandHome(root.path, homeDirectory),
    source: "allowlist",
    listedAs: `allowedRoots[${index}]`,
    allowReadWrite: root.allowReadWrite,
    description: root.description,
  }));
  const writable = { allowReadWrite: true, description: null };
  if (config.projectRoots !== null) {
    const projects = config.projectRoots.map((root, index): ListedRoot => ({
      listedPath: expandHome(root, homeDirectory),
      source: "project_roots",
      listedAs: `project_roots[${index}]`,
      ...writable,
    }));
    return [...allowed, ...projects];
  }
  if (!sources.workingDirectoryIsRoot) return allowed;
  const own: ListedRoot = {
    listedPath: workingDirectory,
    source: "working_directory",
    listedAs: "the working directory",
    ...writable,
  };
  return [...allowed, own];
}

function refuseWholeFileSystem({ path: realPath, listedAs }: MountRoot): void {
  if (realPath !== path.parse(realPath).root) return;
  throw new GloveboxError("INVALID_REQUEST", `${listedAs}: the whole file system cannot be a root of mounts.`, {
    suggestion: `List the folders you need instead of ${listedAs}.`,
    context: { field: listedAs },
  });
}

/** A sandbox that could write its own allowlist could get anything. */
async function refuseAllowlistInside({ path: file, name }: AllowlistFile, roots: readonly MountRoot[]): Promise<void> {
  const standsAt = [await realPlace(path.dirname(file)), await realPlace(file)];
  const around = roots.find(
    (root) => root.source !== "working_directory" && standsAt.some((place) => isWithin(place, root.path)),
  );
  if (around === undefined) return;
  throw new GloveboxError("INVALID_REQUEST", `The ${name} lies inside ${around.listedAs}, which may be mounted.`, {
    suggestion: `Move the file out of that folder, or list folders below it instead of ${around.listedAs}.`,
    context: { field: around.listedAs },
  });
}
