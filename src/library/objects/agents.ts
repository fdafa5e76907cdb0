import { runAgentContract } from "../../operations/agent-contract.ts";
import type { RunOptions } from "./call-options.ts";
import type { Calls } from "./calls.ts";
import type { Execution } from "./execution.ts";
import type { AgentOptions } from "./generated/options.ts";
import type { AgentResult } from "./generated/results.ts";
import type { Result } from "./result.ts";

/** Coding agents of groups. */
export class Agents {
  readonly #calls: Calls;

  /** @internal */
  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /**
   * Runs a coding agent for a group, in a container that has only that group's folders. Await it for its final answer,
   * iterate it for what it says and does. `ok` is true only for the status `success`.
   */
  run(options: AgentOptions, call?: Omit<RunOptions, "stdin">): Execution<Result<AgentResult>> {
    return this.#calls.run(runAgentContract, options, call);
  }
}
