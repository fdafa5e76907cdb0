import { BaseSequencer, type TestSpecification } from "vitest/node";
import { longFiles } from "./files.ts";
import { pathOf } from "./lanes.ts";

/** All lanes at once, long files first: otherwise the lanes would run one after another, and a long file last of all. */
export default class LongestFirst extends BaseSequencer {
  override async sort(specifications: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const place = longFiles.indexOf(pathOf(moduleId));
      return place === -1 ? longFiles.length : place;
    };
    return specifications.toSorted((a, b) => rank(a) - rank(b) || a.moduleId.localeCompare(b.moduleId));
  }
}
