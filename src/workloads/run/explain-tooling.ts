import type { ChangedToolingFile } from "../../policy/tooling/tooling-changes.ts";

/** What has changed of the files through which a project runs code on its owner's machine. */
export interface ToolingReport {
  readonly changed: readonly ChangedToolingFile[];
  /** False: there was more to compare than one look covers, or the project could not be read. */
  readonly isWhole: boolean;
}

/** What a caller should know about a comparison besides the files themselves. */
export function toolingWarnings({ changed, isWhole }: ToolingReport): readonly string[] {
  return [
    ...(changed.length === 0
      ? []
      : [
          "Files that tools of the project's owner (git, editors, shells, agents) run by themselves have changed, see tooling_files: look at them before such a tool is used in the project.",
        ]),
    ...(isWhole
      ? []
      : [
          "Not all files that tools of the project's owner run could be compared: there are too many, or the project cannot be read.",
        ]),
  ];
}
