import { runTestsContract, type RunTestsResponse } from "../../operations/tests/run-tests-contract.ts";
import type { Calls, RunOptions } from "./calls.ts";
import type { Camel } from "./forms/camel.ts";
import type { Execution } from "./execution.ts";
import type { TestsOptions } from "./options.ts";
import type { Result } from "./forms/result.ts";

/** Test runs of projects. */
export class Tests {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /**
   * Runs a project's tests in a fresh sandbox, on a copy that is never written back. Await it for the counts and the
   * verdict, iterate it for the output. `ok` is true for the verdict `passed` alone.
   */
  run(options: TestsOptions, call?: Omit<RunOptions, "stdin">): Execution<Result<Camel<RunTestsResponse>>> {
    return this.#calls.run(runTestsContract, options, call);
  }
}
