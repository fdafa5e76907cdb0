import { TestRunner, type RunnerTestCase, type RunnerTestFile, type RunnerTestSuite } from "vitest";
import { pathOf, projectOf, projectsOf, rareTag, type EngineProject } from "./lanes.ts";
import { outOfTime } from "./time-left.ts";

type Collected = (files: RunnerTestFile[]) => unknown;

/** Runs those tests of a file that belong to the current lane, as long as there is time for it. */
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
      const project = this.config.name as EngineProject;
      const reason = outOfTime(project, { environment: process.env, nowMs: Date.now() });
      for (const file of files) {
        keepOwn(file, project);
        if (reason !== null) skip(file, reason);
      }
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

/** Each test is a visible skip, and nothing is set up for it. */
function skip(suite: RunnerTestSuite, note: string): void {
  suite.mode = "skip";
  for (const task of suite.tasks) {
    if (task.type === "suite") skip(task, note);
    else Object.assign(task, { mode: "skip", result: { state: "skip", note } });
  }
}
