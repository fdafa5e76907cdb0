import { gapSentences, type ChangedToolingFile, type ToolingGap } from "../../policy/tooling-changes.ts";
import type { ToolingLook } from "../../sandbox/look-at-tooling.ts";

/** What has changed of the files through which a project runs code on its owner's machine. */
export interface ToolingReport {
  readonly changed: readonly ChangedToolingFile[];
  /** Why a comparison is not whole; none: what is not in `changed` is as it was. */
  readonly gaps: readonly ToolingGap[];
}

/** Why a comparison of two looks is not whole; null: one failed. */
export function toolingGaps(before: ToolingLook | null, after: ToolingLook | null): readonly ToolingGap[] {
  return [...new Set([before, after].flatMap((look): readonly ToolingGap[] => look?.gaps ?? ["gone"]))];
}

/** The report of what could change nothing. */
export const nothingChanged: ToolingReport = { changed: [], gaps: [] };

/** What a caller should know about a comparison besides the files themselves. */
export function toolingWarnings({ changed, gaps }: ToolingReport): readonly string[] {
  return [
    ...(changed.length === 0
      ? []
      : [
          "Files that tools of the project's owner (git, editors, shells, agents) run by themselves have changed, see tooling_files: look at them before such a tool is used in the project.",
        ]),
    ...gapSentences(gaps),
  ];
}

/** Several of one project as one: of a file the last change. */
export function joinReports(reports: readonly ToolingReport[]): ToolingReport {
  const changed = new Map(reports.flatMap((report) => report.changed.map((file) => [file.path, file])));
  return { changed: [...changed.values()], gaps: [...new Set(reports.flatMap(({ gaps }) => gaps))] };
}
