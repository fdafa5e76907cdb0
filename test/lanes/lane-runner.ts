import { TestRunner, type RunnerTestCase, type RunnerTestFile, type RunnerTestSuite } from "vitest";
import { pathOf, projectOf, projectsOf, rareTag, type EngineProject } from "./lanes.ts";

type Collected = (files: RunnerTestFile[]) => unknown;

/** Runs those tests of a file that belong to the current lane. */
export default class LaneRunner extends TestRunner {
  #report: Collected | undefined;

  /** Vitest sets the callback that reports the tests it found; before that, tests of other lanes are removed. */
  set onCollected(report: Collected) {
    this.#report = report;
  }

  get onCollected(): Collected | undefined {
    const report = this.#report;
    if (report === undefined) return undefined;
    return (files) => {
      for (const file of files) keepOwn(file, this.config.name as EngineProject);
      return report(files);
    };
  }
}

function keepOwn(file: RunnerTestFile, project: EngineProject): void {
  const projects = projectsOf(pathOf(file.filepath));
  const isOwn = (test: RunnerTestCase): boolean => {
    const rare = test.tags?.includes(rareTag) ?? false;
    return projectOf({ fullName: test.fullTestName, rare }, projects) === project;
  };
  const keepIn = (suite: RunnerTestSuite): void => {
    suite.tasks = suite.tasks.filter((task) => {
      if (task.type === "test") return isOwn(task);
      keepIn(task);
      return task.tasks.length > 0;
    });
  };
  keepIn(file);
  // Without tests, nothing is set up.
  if (file.tasks.length === 0 && file.mode === "run") file.mode = "skip";
}
