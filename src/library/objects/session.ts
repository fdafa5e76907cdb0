import {
  createContextContract,
  endContextContract,
  interruptContextContract,
  listContextsContract,
  restartContextContract,
  endSessionContract,
  runCodeContract,
  listSessionsContract,
  openSessionContract,
} from "../../operations/session-contract.ts";
import type { CallOptions, RunOptions } from "./call-options.ts";
import type { Calls } from "./calls.ts";
import type { Execution, Result } from "./execution.ts";
import { Files } from "./files.ts";
import type { ContextOptions, SessionOptions, SessionRunOptions } from "./generated/options.ts";
import type { ContextRow, SessionDetails, SessionRow, SessionRunResult } from "./generated/results.ts";
import { Processes } from "./processes.ts";

/** Sessions keep their files from run to run. */
export class Sessions {
  readonly #calls: Calls;

  /** @internal */
  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /** Opens a session; its sandbox starts with its first run. It keeps the image and the limits given here. */
  async open(options: SessionOptions = {}, call?: CallOptions): Promise<Session> {
    const details = await this.#calls.send(openSessionContract, options, call);
    return new Session(this.#calls, details.sessionId, details);
  }

  /** A session by its id. Sends no request; its calls throw NOT_FOUND if it has ended. */
  get(sessionId: string): Session {
    return new Session(this.#calls, sessionId, null);
  }

  async list(call?: CallOptions): Promise<readonly SessionRow[]> {
    return (await this.#calls.send(listSessionsContract, {}, call)).sessions;
  }
}

/** A session keeps its files from run to run, while each run is a new program. `await using` ends it. */
export class Session implements AsyncDisposable {
  readonly id: string;
  /** The answer of the call that opened it; null if it was opened by its id. */
  readonly details: SessionDetails | null;
  readonly files: Files;
  readonly processes: Processes;
  /** With `keepVariables`: variables apart from each other. */
  readonly contexts: Contexts;
  readonly #calls: Calls;

  /** @internal */
  constructor(calls: Calls, id: string, details: SessionDetails | null) {
    this.#calls = calls;
    this.id = id;
    this.details = details;
    this.files = new Files(calls, { sessionId: id });
    this.processes = new Processes(calls, { sessionId: id });
    this.contexts = new Contexts(calls, id);
  }

  /** Runs a program, in TypeScript unless `language` says otherwise; runs of a session happen one after another, those of different contexts at once. */
  run(options: string | SessionRunOptions, call?: RunOptions): Execution<Result<SessionRunResult>> {
    const given = typeof options === "string" ? { code: options } : options;
    return this.#calls.run(runCodeContract, { ...given, sessionId: this.id }, call);
  }

  /** Ends what runs in it and removes its files. */
  async close(call?: CallOptions): Promise<void> {
    await this.#calls.send(endSessionContract, { sessionId: this.id }, call);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/**
 * The contexts of one session that keeps variables: at most 8, each with variables of its own. `session.run` takes the name
 * of one as `context`, and makes it if there is none.
 */
export class Contexts {
  readonly #calls: Calls;
  readonly #sessionId: string;

  /** @internal */
  constructor(calls: Calls, sessionId: string) {
    this.#calls = calls;
    this.#sessionId = sessionId;
  }

  /** Makes one, with a language and a working folder; its interpreter starts with its first run. @throws ALREADY_EXISTS, CAPACITY */
  create(options: ContextOptions, call?: CallOptions): Promise<ContextRow> {
    return this.#calls.send(createContextContract, { ...options, sessionId: this.#sessionId }, call);
  }

  async list(call?: CallOptions): Promise<readonly ContextRow[]> {
    return (await this.#calls.send(listContextsContract, { sessionId: this.#sessionId }, call)).contexts;
  }

  /** Interrupts its running run as Ctrl+C would, and keeps its variables; a program may ignore it. @throws NOT_FOUND */
  interrupt(context: string, call?: CallOptions): Promise<ContextRow> {
    return this.#calls.send(interruptContextContract, { context, sessionId: this.#sessionId }, call);
  }

  /** Ends its interpreter at once, with its variables, and cancels its runs; the next one begins anew. @throws NOT_FOUND */
  restart(context: string, call?: CallOptions): Promise<ContextRow> {
    return this.#calls.send(restartContextContract, { context, sessionId: this.#sessionId }, call);
  }

  /** Does the same, and forgets it. @throws NOT_FOUND */
  async end(context: string, call?: CallOptions): Promise<void> {
    await this.#calls.send(endContextContract, { context, sessionId: this.#sessionId }, call);
  }
}
