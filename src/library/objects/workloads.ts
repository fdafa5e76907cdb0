import { runAgentContract } from "../../operations/agent-contract.ts";
import type { RunOptions, CallOptions } from "./call-options.ts";
import type { Calls } from "./calls.ts";
import type { Execution, Result } from "./execution.ts";
import type { AgentOptions, PreviewOptions, PreviewStatusOptions, TestsOptions } from "./generated/options.ts";
import type { AgentResult, PreviewDetails, StoppedPreview, TestsResult } from "./generated/results.ts";
import {
  previewStatusContract,
  stopPreviewContract,
  startPreviewContract,
} from "../../operations/previews-contract.ts";
import { readTestReportContract, runTestsContract } from "../../operations/tests-contract.ts";

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

/** Pages of projects, served from sandboxes until they are closed. */
export class Previews {
  readonly #calls: Calls;

  /** @internal */
  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /**
   * Starts one on a copy of a project and waits up to `waitSeconds` until its port answers. A command that fails is a
   * preview with the status `error`. @throws what starting a sandbox throws
   */
  async start(options: PreviewOptions, call?: CallOptions): Promise<Preview> {
    const details = await this.#calls.send(startPreviewContract, options, call);
    return new Preview(this.#calls, details.containerId, details);
  }

  /** A preview by its `containerId`. Sends no request; its calls throw NOT_FOUND if it does not exist. */
  get(containerId: string): Preview {
    return new Preview(this.#calls, containerId, null);
  }
}

/** One preview. `await using` ends it. */
export class Preview implements AsyncDisposable {
  readonly id: string;
  /** The answer of the call that started it, with its `url`; null if it was opened by its id. */
  readonly details: PreviewDetails | null;
  readonly #calls: Calls;

  /** @internal */
  constructor(calls: Calls, id: string, details: PreviewDetails | null) {
    this.#calls = calls;
    this.id = id;
    this.details = details;
  }

  /** Its current state; with `waitSeconds` (at most 30), waits while it starts. */
  status(options: PreviewStatusOptions = {}, call?: CallOptions): Promise<PreviewDetails> {
    return this.#calls.send(previewStatusContract, { ...options, id: this.id }, call);
  }

  /** Ends it gracefully and removes its sandbox. @throws NOT_FOUND if it has already ended */
  close(call?: CallOptions): Promise<StoppedPreview> {
    return this.#calls.send(stopPreviewContract, { id: this.id }, call);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

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
