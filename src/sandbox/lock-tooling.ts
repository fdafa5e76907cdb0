import path from "node:path";
import type { MountSpec } from "../engines/container-spec.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import { openPlace } from "./mounts/open-place.ts";
import { noteTooling, type LookAtTooling } from "./look-at-tooling.ts";
import { PathLook } from "./path-look.ts";

/** Each is a mount of its own in the container. */
const maxLocks = 128;

/** Written while git works: with it read-only a rebase that the owner has begun could not go on. */
const unlocked = /\/git-rebase-todo$/;

/**
 * Mounts that keep the files from being changed through which a project runs code on its owner's machine (SPEC MO2), to be
 * laid over the project at `target`: those that exist read-only; git folders and every folder above as they are, onto
 * themselves, so that none can be moved away with what is locked in it. Nothing is made for what is missing. Links are
 * left out: a mount would be of what they lead to.
 * @throws POLICY_DENIED when the project changes meanwhile, INVALID_REQUEST when there are too many
 */
export async function lockTooling(
  { place, platform, morePaths }: LookAtTooling,
  target: string,
): Promise<readonly MountSpec[]> {
  const look = await PathLook.open(place, platform);
  try {
    await noteTooling(look, place.realPath, morePaths);
  } finally {
    await look.close();
  }
  const found = [...look.places].filter(([each, kind]) => kind !== "other" && !unlocked.test(each));
  const folders = found.flatMap(([each, kind]) => (kind === "folder" && !isGitFolder(each) ? [`${each}/`] : []));
  const apart = found.filter(([each]) => !folders.some((folder) => each.startsWith(folder)));
  const locked = new Map(apart.map(([each, kind]) => [each, kind === "file" || !isGitFolder(each)]));
  for (const each of apart.flatMap(([path]) => foldersAbove(path))) if (!locked.has(each)) locked.set(each, false);
  if (locked.size > maxLocks) throw tooMany(locked.size);
  const mounts: MountSpec[] = [];
  // A folder before what lies in it, or it would cover that.
  for (const [each, readOnly] of [...locked].toSorted(([one], [other]) => depthOf(one) - depthOf(other))) {
    const source = path.join(place.realPath, each);
    await using opened = await openPlace(`${place.stablePath}/${each}`, platform).catch(() => null);
    if (opened === null || opened.realPath !== source) throw changed(each);
    // By name, because engines mount no single file by a handle; what was mounted is compared all the same.
    const identity = { ...(await opened.identify()), heldAt: null };
    mounts.push({ source, target: `${target}/${each}`, readOnly, identity });
  }
  return mounts;
}

/** Of a path from the project's root, without the root. */
function foldersAbove(each: string): readonly string[] {
  const parts = each.split("/");
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join("/"));
}

function depthOf(each: string): number {
  return each.split("/").length;
}

function isGitFolder(each: string): boolean {
  return path.posix.basename(each) === ".git";
}

function changed(each: string): GloveboxError {
  return new GloveboxError("POLICY_DENIED", `project_root: ${JSON.stringify(each)} was replaced while it was locked.`, {
    suggestion: "Leave the project in place while the environment starts.",
    context: { field: "tooling_files", rule: "changed" },
  });
}

function tooMany(count: number): GloveboxError {
  return new GloveboxError(
    "INVALID_REQUEST",
    `tooling_files: The project has ${count} files and folders to lock, with the folders above them, more than ${maxLocks}.`,
    {
      suggestion: 'Use "named", which has no such limit, or make a smaller folder the project_root.',
      context: { field: "tooling_files", limit: maxLocks },
    },
  );
}
