import { doctorContract } from "../../operations/doctor/doctor-contract.ts";
import { executeCodeContract } from "../../operations/execute/execute-contract.ts";
import type { CallOptions, RunOptions } from "./call-options.ts";
import { Calls, type Caller } from "./calls.ts";
import { Agents } from "./agents.ts";
import { Environments } from "./environment.ts";
import type { Execution } from "./execution.ts";
import { Images, Mounts, PackageCache } from "./machine.ts";
import type { Result } from "./forms/result.ts";
import type { ExecuteOptions } from "./generated/options.ts";
import type { DoctorReport, ExecuteResult } from "./generated/results.ts";
import { Previews } from "./previews.ts";
import { Sandboxes } from "./sandbox.ts";
import { Sessions } from "./session.ts";
import { Tests } from "./tests.ts";

/**
 * Glovebox: in this process (`createGlovebox`) or on a server (`connect`), with the same objects.
 *
 * A program that fails is a result. What throws is the platform, which refused or failed, and it throws `GloveboxError`.
 * `await using` closes it.
 */
export class Glovebox implements AsyncDisposable {
  /** Places whose files last from run to run. */
  readonly sessions: Sessions;
  /** Containers that run commands until they are closed. */
  readonly environments: Environments;
  /** Test runs of projects. */
  readonly tests: Tests;
  /** Pages of projects, served from sandboxes. */
  readonly previews: Previews;
  /** Coding agents of groups. */
  readonly agents: Agents;
  /** Sandboxes that live now; in this process those of other processes of this user too. */
  readonly sandboxes: Sandboxes;
  /** Default images; of this machine only. */
  readonly images: Images;
  /** Installed packages that are kept; of this machine only. */
  readonly packages: PackageCache;
  /** Which folders sandboxes may get; of this machine only. */
  readonly mounts: Mounts;
  readonly #calls: Calls;

  /** @internal */
  constructor(caller: Caller) {
    this.#calls = new Calls(caller);
    this.sessions = new Sessions(this.#calls);
    this.environments = new Environments(this.#calls);
    this.tests = new Tests(this.#calls);
    this.previews = new Previews(this.#calls);
    this.agents = new Agents(this.#calls);
    this.sandboxes = new Sandboxes(this.#calls);
    this.images = new Images(this.#calls);
    this.packages = new PackageCache(this.#calls);
    this.mounts = new Mounts(this.#calls);
  }

  /** Runs a program in a fresh sandbox that no other run ever sees. Await it for the result, iterate it for the output. */
  execute(options: ExecuteOptions, call?: RunOptions): Execution<Result<ExecuteResult>> {
    return this.#calls.run(executeCodeContract, options, call);
  }

  /** Which engines can be used here and why not, what each enforces, known dangers; of this machine only. */
  doctor(call?: CallOptions): Promise<DoctorReport> {
    return this.#calls.send(doctorContract, {}, call);
  }

  /**
   * In this process: ends and removes everything that it made and lets go of the engines, within 9 s. A client only ends
   * its own calls. Later calls throw.
   * @throws ENGINE_UNAVAILABLE naming what an engine did not remove in that time; the next start removes it
   */
  close(): Promise<void> {
    return this.#calls.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
