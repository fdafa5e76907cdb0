import { GloveboxError } from "../../errors/glovebox-error.ts";
import { getMetricsContract, listAlertsContract } from "../../operations/metrics-contract.ts";
import {
  copyIntoSandboxContract,
  copyOutOfSandboxContract,
  execInSandboxContract,
  openTerminalContract,
} from "../../operations/live-sandbox-contract.ts";
import {
  findSandboxPlaceContract,
  listSandboxesContract,
  pruneSandboxesContract,
  removeSandboxesContract,
} from "../../operations/sandboxes-contract.ts";
import type { CallOptions, SandboxRunCall, TerminalCall, Place, PlaceSource } from "./call-options.ts";
import type { Calls } from "./calls.ts";
import type { Execution, Result } from "./execution.ts";
import { Files } from "./files.ts";
import type {
  CopyLimits,
  ExecOptions,
  ListAlertsOptions,
  ListSandboxesOptions,
  MetricsOptions,
  PruneSandboxesOptions,
  TerminalOptions,
} from "./generated/options.ts";
import type {
  Alert,
  CopyResult,
  ExecResult,
  LogEntry,
  Metrics,
  SandboxRow,
  TerminalResult,
} from "./generated/results.ts";
import { followSandboxLog, type LogOptions } from "./follow-log.ts";
import { Processes } from "./processes.ts";
import { withCommand } from "./with-command.ts";

/** Live sandboxes: here all of this machine's user, including other processes'; on a server only the key's own. */
export class Sandboxes {
  readonly #calls: Calls;

  /** @internal */
  constructor(calls: Calls) {
    this.#calls = calls;
  }

  async list(options: ListSandboxesOptions = {}, call?: CallOptions): Promise<readonly SandboxRow[]> {
    return (await this.#calls.send(listSandboxesContract, options, call)).sandboxes;
  }

  /** A sandbox by its id, its name or the beginning of its id. Sends no request. */
  get(sandboxId: string): Sandbox {
    return new Sandbox(this.#calls, sandboxId);
  }

  /** The newest alerts of sandboxes that this Glovebox created, oldest first. */
  async alerts(options: ListAlertsOptions = {}, call?: CallOptions): Promise<readonly Alert[]> {
    return (await this.#calls.send(listAlertsContract, options, call)).alerts;
  }

  /** Removes what dead processes left behind on the engines, or everything; resolves to the ids. */
  async prune(options: PruneSandboxesOptions = {}, call?: CallOptions): Promise<readonly string[]> {
    return (await this.#calls.send(pruneSandboxesContract, options, call)).removed;
  }
}

/**
 * A live sandbox, whatever runs in it; that keeps running. Its calls throw NOT_FOUND naming the sandboxes there are,
 * SANDBOX_LOST when its owner is gone, and UNSUPPORTED for one that is out of reach or at isolation `preload`.
 */
export class Sandbox {
  readonly id: string;
  /**
   * The files of the session or environment in it: NOT_FOUND if none of this Glovebox's lives there any more,
   * UNSUPPORTED for the sandbox of a single program, whose files are copied with `copyIn` and `copyOut`.
   */
  readonly files: Files;
  /** The background processes of the session or environment in it. @throws as `files` */
  readonly processes: Processes;
  readonly #calls: Calls;

  /** @internal */
  constructor(calls: Calls, id: string) {
    this.#calls = calls;
    this.id = id;
    const place: PlaceSource = (call) => this.#findPlace(call);
    this.files = new Files(calls, place);
    this.processes = new Processes(calls, place);
  }

  /** Runs another program in it: `run(["ls", "-l"])`, or a shell line. An abort ends it and everything it started. */
  run(options: string | readonly string[] | ExecOptions, call?: SandboxRunCall): Execution<Result<ExecResult>> {
    return this.#calls.run(execInSandboxContract, { ...withCommand(options), sandboxId: this.id }, call);
  }

  /**
   * A shell or a program in a terminal: `stdin` is what is typed, output events are what to draw, unfiltered, `sizes`
   * reports new sizes. The end of `stdin` hangs up.
   */
  terminal(options: TerminalOptions, call?: TerminalCall): Promise<TerminalResult> {
    return this.#calls.send(openTerminalContract, { ...options, sandboxId: this.id }, call);
  }

  /** Copies a file or folder of this machine into it, as `docker cp` does. @throws POLICY_DENIED beyond the limits */
  copyIn(source: string, target: string, limits: CopyLimits = {}, call?: CallOptions): Promise<CopyResult> {
    const request = { ...limits, sandboxId: this.id, source, target };
    return this.#calls.send(copyIntoSandboxContract, request, call);
  }

  /**
   * Copies a file or folder out of it. File names are untrusted: nothing is written outside the target, and links that
   * lead out are neither followed nor created. @throws POLICY_DENIED beyond the limits and for names that lead out
   */
  copyOut(source: string, target: string, limits: CopyLimits = {}, call?: CallOptions): Promise<CopyResult> {
    const request = { ...limits, sandboxId: this.id, source, target };
    return this.#calls.send(copyOutOfSandboxContract, request, call);
  }

  /**
   * What it used, second by second; available for a while after its end too. Only for sandboxes that this Glovebox
   * created.
   */
  metrics(options: MetricsOptions = {}, call?: CallOptions): Promise<Metrics> {
    return this.#calls.send(getMetricsContract, { ...options, sandboxId: this.id }, call);
  }

  /**
   * Its log, entry by entry: what its programs wrote, line by line, and what Glovebox reports about it; available for a
   * while after its end too. With `follow`, it continues until the log ends, and after a broken connection it resumes
   * after the last entry.
   * @throws NOT_FOUND; NETWORK_ERROR if a server is unreachable for about a minute; CANCELLED
   */
  logs(options: LogOptions = {}): AsyncGenerator<LogEntry, undefined> {
    return followSandboxLog(this.#calls, this.id, options);
  }

  /** Ends and removes it, whatever runs in it. */
  async close(call?: CallOptions): Promise<void> {
    await this.#calls.send(removeSandboxesContract, { ids: [this.id] }, call);
  }

  /** Looked up each time: the session or environment may have another sandbox by now. */
  async #findPlace(call?: Pick<CallOptions, "signal">): Promise<Place> {
    const { envId, sessionId } = await this.#calls.send(findSandboxPlaceContract, { sandboxId: this.id }, call);
    if (envId !== undefined) return { envId };
    if (sessionId !== undefined) return { sessionId };
    throw new GloveboxError("INTERNAL", `The session or environment of ${this.id} is unknown.`);
  }
}
