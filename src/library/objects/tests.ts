import { runTestsContract } from "../../operations/tests/run-tests-contract.ts";
import type { RunOptions } from "./call-options.ts";
import type { Calls } from "./calls.ts";
import type { Execution } from "./execution.ts";
import type { TestsOptions } from "./generated/options.ts";
import type { TestsResult } from "./generated/results.ts";
import type { Result } from "./forms/result.ts";

/** Test runs of projects. */
export class Tests {
  readonly #calls: Calls;

  /** @internal */
  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /**
   * Runs a project's tests in a fresh sandbox, on a copy that is never written back. Await it for the counts and the
   * verdict, iterate it for the output. `ok` is true for the verdict `passed` alone.
   */
  run(options: TestsOptions, call?: Omit<RunOptions, "stdin">): Execution<Result<TestsResult>> {
    return this.#calls.run(runTestsContract, options, call);
  }
}
