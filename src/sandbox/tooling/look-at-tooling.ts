import type { ToolingSnapshot } from "../../policy/tooling/tooling-changes.ts";
import { toolingPaths } from "../../policy/tooling/tooling-files.ts";
import type { OpenPlace } from "../mounts/open-place.ts";
import { lookAtGit } from "./look-at-git.ts";
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
  /** Whether nothing was left out because of its number, its depth, or the time. */
  readonly isWhole: boolean;
}

/** Looks at them (SPEC MO2). Null when the project cannot be read: it was moved away, or a program took the right to. */
export async function lookAtTooling({ place, platform, morePaths }: LookAtTooling): Promise<ToolingLook | null> {
  try {
    const look = await ProjectLook.open(place, platform);
    try {
      // Git first: nothing that a program puts elsewhere can use up the time for it.
      await lookAtGit(look, place.realPath);
      await Promise.all(toolingPaths(morePaths).map((path) => look.note(path)));
      return { snapshot: look.snapshot, isWhole: look.isWhole };
    } finally {
      await look.close();
    }
  } catch {
    return null;
  }
}
