import {
  createEnvironmentContract,
  destroyEnvironmentContract,
  listEnvironmentsContract,
  runCommandContract,
} from "../../operations/environments-contract.ts";
import type { CallOptions, RunOptions } from "./call-options.ts";
import type { Calls } from "./calls.ts";
import type { Execution, Result } from "./execution.ts";
import { Files } from "./files.ts";
import type { CommandOptions, EnvironmentOptions } from "./generated/options.ts";
import type { CommandResult, EnvironmentDetails, EnvironmentRow } from "./generated/results.ts";
import { Processes } from "./processes.ts";
import { withCommand } from "./with-command.ts";

/** Containers that run commands until they are closed, with a project's folder if one is given. */
export class Environments {
  readonly #calls: Calls;

  /** @internal */
  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /** Starts one; a missing image is pulled first. @throws ALREADY_EXISTS, and what starting a sandbox throws */
  async create(options: EnvironmentOptions, call?: CallOptions): Promise<Environment> {
    const details = await this.#calls.send(createEnvironmentContract, options, call);
    return new Environment(this.#calls, details.envId, details);
  }

  /** An environment by its id. Sends no request; its calls throw NOT_FOUND if it does not exist. */
  get(envId: string): Environment {
    return new Environment(this.#calls, envId, null);
  }

  async list(call?: CallOptions): Promise<readonly EnvironmentRow[]> {
    return (await this.#calls.send(listEnvironmentsContract, {}, call)).environments;
  }
}

/** A container that runs commands, several at a time. `await using` removes it; the project's folder stays as it is. */
export class Environment implements AsyncDisposable {
  readonly id: string;
  /** The answer of the call that created it; null if it was opened by its id. */
  readonly details: EnvironmentDetails | null;
  readonly files: Files;
  readonly processes: Processes;
  readonly #calls: Calls;

  /** @internal */
  constructor(calls: Calls, id: string, details: EnvironmentDetails | null) {
    this.#calls = calls;
    this.id = id;
    this.details = details;
    this.files = new Files(calls, { envId: id });
    this.processes = new Processes(calls, { envId: id });
  }

  /** Runs a command to its end: a shell line (`run("npm test | tail")`), or a program and its arguments (`run(["npm", "test"])`). */
  run(options: string | readonly string[] | CommandOptions, call?: RunOptions): Execution<Result<CommandResult>> {
    return this.#calls.run(runCommandContract, { ...withCommand(options), envId: this.id }, call);
  }

  /** Ends what runs in it and removes the container. */
  async close(call?: CallOptions): Promise<void> {
    await this.#calls.send(destroyEnvironmentContract, { envId: this.id }, call);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
