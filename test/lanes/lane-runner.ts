import { TestRunner, type RunnerTask, type RunnerTestCase, type RunnerTestFile, type RunnerTestSuite } from "vitest";
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
      const reason = this.#outOfTime();
      for (const file of files) {
        keepOwn(file, this.config.name as EngineProject);
        if (reason !== null) skip(file, reason);
      }
      return report(files);
    };
  }

  override async onBeforeRunTask(test: RunnerTask): Promise<void> {
    await super.onBeforeRunTask(test);
    const reason = this.#outOfTime();
    if (reason !== null) skip(test, reason);
  }

  #outOfTime(): string | null {
    return outOfTime(this.config.name as EngineProject, { environment: process.env, nowMs: Date.now() });
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

/** Each test is a visible skip, and in a file of nothing else nothing is set up. */
function skip(task: RunnerTask, note: string): void {
  task.mode = "skip";
  if (task.type === "test") Object.assign(task, { result: { state: "skip", note } });
  else for (const part of task.tasks) skip(part, note);
}
