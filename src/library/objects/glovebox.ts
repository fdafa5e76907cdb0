import { doctorContract } from "../../operations/doctor-contract.ts";
import { executeCodeContract } from "../../operations/execute-contract.ts";
import type { CallOptions, RunOptions } from "./call-options.ts";
import { Calls, type Caller } from "./calls.ts";
import { Agents, Previews, Tests } from "./workloads.ts";
import { Environments } from "./environment.ts";
import type { Execution, Result } from "./execution.ts";
import { Images, Mounts, PackageCache } from "./machine.ts";
import type { ExecuteOptions } from "./generated/options.ts";
import type { DoctorReport, ExecuteResult } from "./generated/results.ts";
import { Sandboxes } from "./sandbox.ts";
import { Sessions } from "./session.ts";

/**
 * Glovebox: in this process (`createGlovebox`) or on a server (`connect`), with the same objects.
 *
 * A program that fails is a result; only the platform throws: a `GloveboxError` if it refuses or fails. `await using`
 * closes it.
 */
export class Glovebox implements AsyncDisposable {
  /** Sessions keep their files from run to run. */
  readonly sessions: Sessions;
  /** Containers that run commands until they are closed. */
  readonly environments: Environments;
  /** Test runs of projects. */
  readonly tests: Tests;
  /** Pages of projects, served from sandboxes. */
  readonly previews: Previews;
  /** Coding agents of groups. */
  readonly agents: Agents;
  /** Live sandboxes; in this process also those of this user's other processes. */
  readonly sandboxes: Sandboxes;
  /** Default images; only on this machine. */
  readonly images: Images;
  /** The cache of installed packages; only on this machine. */
  readonly packages: PackageCache;
  /** Which folders sandboxes may get; only on this machine. */
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

  /**
   * Runs a program in a fresh sandbox that is used for nothing else. Await it for the result, iterate it for the
   * output.
   */
  execute(options: ExecuteOptions, call?: RunOptions): Execution<Result<ExecuteResult>> {
    return this.#calls.run(executeCodeContract, options, call);
  }

  /**
   * Which engines can be used here and why others cannot, what each enforces, known vulnerabilities; only on this
   * machine.
   */
  doctor(call?: CallOptions): Promise<DoctorReport> {
    return this.#calls.send(doctorContract, {}, call);
  }

  /**
   * In this process: ends and removes everything it created and disconnects from the engines, within 9 s. A client only
   * ends its own calls. Later calls throw.
   * @throws ENGINE_UNAVAILABLE naming what an engine did not remove in that time, which the next start removes
   */
  close(): Promise<void> {
    return this.#calls.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
