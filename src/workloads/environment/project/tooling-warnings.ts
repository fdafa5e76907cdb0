import type { ToolingReport } from "./tooling-traces.ts";

/** What a caller should know of a comparison beside the files themselves. */
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
