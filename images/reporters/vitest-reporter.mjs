import { createRequire } from "node:module";

const { openReport, failureOf, plain } = createRequire(import.meta.url)("./report-writer.cjs");

/** Vitest's reporter interface: `onTestRunEnd` since 3, `onFinished` before. */
// oxlint-disable-next-line import/no-default-export
export default class {
  #coverage;

  onCoverage(coverage) {
    this.#coverage = coverage;
  }

  onTestRunEnd(modules, errors) {
    this.#modules = modules.map(({ task }) => task);
    this.#save(this.#modules, errors);
  }

  onFinished(files = [], errors = []) {
    if (this.#modules === null) this.#save(files, errors);
  }

  #modules = null;

  #save(files, errors) {
    const report = openReport("vitest");
    if (report === null) return;
    for (const file of files) addTask(report, file, [], file.filepath);
    for (const task of files.flatMap(unfinished)) report.leave(task.filepath ?? task.name);
    for (const error of errors) report.add({ name: "unhandled error", status: "error", ...failureOf(error, null) });
    report.cover(this.#coverage?.getCoverageSummary?.().lines.pct);
    report.save();
  }
}

function addTask(report, task, suite, file) {
  const { result } = task;
  const failures = (result?.errors ?? []).map((error) => failureOf({ ...error, stack: error.stack ?? "" }, file));
  const failure =
    failures.length === 0
      ? {}
      : { ...failures[0], details: plain(failures.map(({ details }) => details).join("\n\n")) };
  if (task.type === "test" || task.type === "custom") {
    const line = failure.line ?? task.location?.line;
    return report.add({
      name: task.name,
      suite,
      status: statusOf(task),
      file,
      durationMs: result?.duration,
      ...failure,
      line,
    });
  }
  // A file that could not be loaded, or a failed hook of a whole suite.
  if (failures.length > 0) report.add({ name: task.name, suite, status: "error", file, ...failure });
  const below = task.filepath === undefined ? [...suite, task.name] : suite;
  for (const child of task.tasks ?? []) addTask(report, child, below, file);
}

/** What was to be run and has no result. */
function unfinished(task) {
  if (task.mode !== "run" && task.mode !== "only" && task.mode !== "queued") return [];
  const isOpen = !["pass", "fail", "skip", "todo"].includes(task.result?.state);
  return isOpen ? [task] : (task.tasks ?? []).flatMap(unfinished);
}

function statusOf({ mode, result }) {
  if (mode === "todo") return "todo";
  if (result?.state === "pass") return "passed";
  if (result?.state === "fail") return "failed";
  return "skipped";
}
