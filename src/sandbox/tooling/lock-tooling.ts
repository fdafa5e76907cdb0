import path from "node:path";
import type { MountSpec } from "../../engines/container-spec.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { toolingPaths } from "../../policy/tooling/tooling-files.ts";
import { openPlace } from "../mounts/open-place.ts";
import { lookAtGit } from "./look-at-git.ts";
import type { LookAtTooling } from "./look-at-tooling.ts";
import { ProjectLook } from "./project-look.ts";

/** Each is a mount of its own in the container. */
const maxLocks = 128;

/** Written while git works: with it read-only a rebase that the owner has begun could not go on. */
const unlocked = /\/git-rebase-todo$/;

/**
 * Mounts that keep the files from being changed through which a project runs code on its owner's machine (SPEC MO2), to be
 * laid over the project at `target`: those that exist read-only, the git folder as it is, onto itself, so that it cannot be
 * renamed. Nothing is made for what is missing. Links are left out: a mount would be of what they lead to.
 * @throws POLICY_DENIED when the project changes meanwhile, INVALID_REQUEST when there are too many
 */
export async function lockTooling(
  { place, platform, morePaths }: LookAtTooling,
  target: string,
): Promise<readonly MountSpec[]> {
  const look = await ProjectLook.open(place, platform);
  try {
    await lookAtGit(look, place.realPath);
    for (const each of toolingPaths(morePaths)) await look.note(each);
  } finally {
    await look.close();
  }
  const found = [...look.places].filter(([each, kind]) => kind !== "other" && !unlocked.test(each));
  const folders = found.flatMap(([each, kind]) => (kind === "folder" && !isGitFolder(each) ? [`${each}/`] : []));
  const apart = found.filter(([each]) => !folders.some((folder) => each.startsWith(folder)));
  if (apart.length > maxLocks) throw tooMany(apart.length);
  const mounts: MountSpec[] = [];
  for (const [each, kind] of apart) {
    const source = path.join(place.realPath, each);
    await using opened = await openPlace(`${place.stablePath}/${each}`, platform).catch(() => null);
    if (opened === null || opened.realPath !== source) throw changed(each);
    const readOnly = kind === "file" || !isGitFolder(each);
    // By name, because engines mount no single file by a handle; what was mounted is compared all the same.
    const identity = { ...(await opened.identify()), heldAt: null };
    mounts.push({ source, target: `${target}/${each}`, readOnly, identity });
  }
  return mounts;
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
    `tooling_files: The project has ${count} files and folders to lock, more than ${maxLocks}.`,
    {
      suggestion: 'Use "named", which has no such limit, or make a smaller folder the project_root.',
      context: { field: "tooling_files", limit: maxLocks },
    },
  );
}
