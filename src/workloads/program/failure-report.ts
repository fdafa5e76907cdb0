import type { RunnerFile } from "./runner-job.ts";

/** What is left of a program that failed, for the reader of one toolchain's errors. */
export interface FailureReport {
  /** End of the program's standard error, without blank lines after it. */
  readonly stderr: string;
  /** The job's files by the absolute paths that error messages show. */
  readonly files: ReadonlyMap<string, RunnerFile>;
}
