import type { ToolingSnapshot } from "../../policy/tooling/tooling-changes.ts";
import { toolingNames, toolingPaths } from "../../policy/tooling/tooling-files.ts";
import type { ToolingGap } from "../../policy/tooling/tooling-gaps.ts";
import type { OpenPlace } from "../mounts/open-place.ts";
import { GitLook } from "./look-at-git.ts";
import { ProjectLook } from "./project-look.ts";

export interface LookAtTooling {
  readonly place: Pick<OpenPlace, "stablePath" | "realPath">;
  readonly platform: NodeJS.Platform;
  /** Paths from the project's root that count in addition to those of the table. */
  readonly morePaths: readonly string[];
}

/** The files through which a project runs code on its owner's machine, as they are at one moment. */
export interface ToolingLook {
  readonly snapshot: ToolingSnapshot;
  /** Whether nothing was left out. */
  readonly isWhole: boolean;
  /** Why something was, without duplicates. */
  readonly gaps: readonly ToolingGap[];
}

/** Looks at them (SPEC MO2). Null when the project cannot be read: it was moved away, or a program took the right to. */
export async function lookAtTooling({ place, platform, morePaths }: LookAtTooling): Promise<ToolingLook | null> {
  try {
    const look = await ProjectLook.open(place, platform);
    try {
      await noteTooling(look, place.realPath, morePaths);
      return { snapshot: look.snapshot, isWhole: look.gaps.length === 0, gaps: look.gaps };
    } finally {
      await look.close();
    }
  } catch {
    return null;
  }
}

/** Notes all of them. `root` is the real path of the project, which git's files may name. */
export async function noteTooling(look: ProjectLook, root: string, morePaths: readonly string[]): Promise<void> {
  const git = new GitLook(look, root);
  // Git first and the search last: nothing that a program puts elsewhere can use up the time for what is known.
  await git.known();
  const named = toolingNames(await look.names("."));
  await Promise.all([...toolingPaths(morePaths), ...named].map((path) => look.note(path)));
  await git.search();
}
