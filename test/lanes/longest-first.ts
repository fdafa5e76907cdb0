import { BaseSequencer, type TestSpecification } from "vitest/node";
import { longFiles } from "./files.ts";
import { pathOf } from "./lanes.ts";
import { isLate } from "./time-left.ts";

/**
 * All lanes at once, long files first: otherwise the lanes would run one after another, and a long file last of all. What
 * is left out first where time is short comes after everything else.
 */
export default class LongestFirst extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId, project }: TestSpecification): number => {
      const path = pathOf(moduleId);
      const place = longFiles.indexOf(path);
      return (place === -1 ? longFiles.length : place) + (isLate(project.name, path) ? longFiles.length + 1 : 0);
    };
    // Attacks are the last that may be left out.
    const isRareAttack = ({ moduleId, project }: TestSpecification): boolean =>
      project.name.endsWith("-rare") && pathOf(moduleId).startsWith("test/security/");
    return specifications.toSorted(
      (a, b) =>
        rank(a) - rank(b) || Number(isRareAttack(b)) - Number(isRareAttack(a)) || a.moduleId.localeCompare(b.moduleId),
    );
  }
}
