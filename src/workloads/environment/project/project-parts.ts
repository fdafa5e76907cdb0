import { GrowthWatch } from "../../../sandbox/growth/growth-watch.ts";
import { lockTooling } from "../../../sandbox/tooling/lock-tooling.ts";
import { lookAtTooling } from "../../../sandbox/tooling/look-at-tooling.ts";
import { rootWatch } from "../../run/disk/root-watch.ts";
import type { EnvironmentParts } from "../environment-parts.ts";
import { projectFolder, type EnvironmentSpec } from "../environment-spec.ts";

/** How many files and folders a project, or a container's own root, may grow by (SPEC LI1). */
const maxFiles = 1_000_000;

type ProjectParts = Pick<EnvironmentParts, "lookAtTooling" | "lockTooling" | "growth">;

export interface ProjectHost {
  readonly host: { readonly platform: NodeJS.Platform; readonly executable: string };
  readonly now: () => number;
}

/** Watches the files of an environment's own root. */
export function environmentRootWatch({ host, now }: ProjectHost): (folder: string) => GrowthWatch {
  return rootWatch({ ...host, now }, maxFiles);
}

/** The watchers and guards of a project that commands may write to; a read-only one needs none. */
export function projectParts({ host, now }: ProjectHost, spec: EnvironmentSpec): ProjectParts {
  const { project, toolingFiles, toolingPaths, limits } = spec;
  if (project === null || project.readOnly) return { lookAtTooling: undefined, lockTooling: undefined, growth: null };
  const looked = { place: project.place, platform: host.platform, morePaths: toolingPaths };
  return {
    lookAtTooling: () => lookAtTooling(looked),
    lockTooling: toolingFiles === "named" ? undefined : () => lockTooling(looked, projectFolder),
    growth: new GrowthWatch({
      ...host,
      place: project.place,
      limits: { bytes: limits.diskBytes, files: maxFiles },
      now,
    }),
  };
}
