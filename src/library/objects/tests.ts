import { readTestReportContract, runTestsContract } from "../../operations/tests-contract.ts";
import type { RunOptions } from "./call-options.ts";
import type { Calls } from "./calls.ts";
import type { Execution } from "./execution.ts";
import type { TestsOptions } from "./generated/options.ts";
import type { TestsResult } from "./generated/results.ts";
import type { Result } from "./result.ts";

/** Test runs of projects. */
export class Tests {
  readonly #calls: Calls;

  /** @internal */
  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /**
   * Runs a project's tests in a fresh sandbox, on a copy that is never written back. Await it for the counts and the
   * verdict, iterate it for the output. `ok` is true only for the verdict `passed`.
   */
  run(options: TestsOptions, call?: Omit<RunOptions, "stdin">): Execution<Result<TestsResult>> {
    return this.#calls.run(runTestsContract, options, call);
  }

  /**
   * Every test of a run that has ended, in the Common Test Report Format, as JSON. @throws NOT_FOUND if none is kept:
   * the run had no report, was long ago, or was another process's without a store
   */
  async report(sandboxId: string, call: Pick<RunOptions, "signal"> = {}): Promise<string> {
    const { ctrf } = await this.#calls.send(readTestReportContract, { id: sandboxId }, call);
    return ctrf;
  }
}
