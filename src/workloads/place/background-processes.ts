import { untilCancelled } from "../../base/abort.ts";
import { untilWritable } from "../../base/streams/chunks.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { Process, ProcessSignal } from "../../engines/engine.ts";
import { RingOutput } from "../../base/streams/collected-bytes.ts";
import type { Redaction } from "../../policy/redaction.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { keptBytes, watchProcess } from "../run/watch-process.ts";
import { PortRelays, connectToProgram, type OpenPort } from "./program-ports.ts";
import { createId } from "../../base/id.ts";
import type { ProcessSpec } from "../program/command-spec.ts";

/** `lost`: its container disappeared. */
type BackgroundState = "running" | "exited" | "lost";

interface BackgroundProcessParts {
  readonly id: string;
  readonly command: readonly string[];
  /** Milliseconds since the epoch. */
  readonly startedAtMs: number;
  readonly process: Process;
  /** Removes secrets from its output. */
  readonly redaction: Redaction;
  readonly sandbox: Pick<Sandbox, "state" | "output" | "endProcessAlone" | "endLeftBehind">;
  /** Closed when it has ended. */
  readonly relays: PortRelays;
  readonly onEnded?: (() => void) | undefined;
}

/** How to end a process; default: gracefully, which gives it time. */
export interface StopOptions {
  /** SIGKILL immediately. */
  readonly atOnce?: boolean | undefined;
  /** Its sandbox goes too: it counts as lost. */
  readonly isLost?: boolean | undefined;
}

/** How long a process may take to read its input. */
const writeMs = 10_000;

/** A process that outlives the call that started it, with its newest output. */
export class BackgroundProcess {
  readonly id: string;
  readonly command: readonly string[];
  readonly startedAtMs: number;
  readonly stdout: RingOutput;
  readonly stderr: RingOutput;
  /** Resolves when it has ended, however. */
  readonly ended: Promise<void>;
  readonly #process: Process;
  readonly #sandbox: BackgroundProcessParts["sandbox"];
  readonly #relays: PortRelays;
  #isLost = false;
  #state: BackgroundState = "running";
  #exitCode: number | null = null;
  #isOutputOver = false;
  #drained: Promise<void> | undefined;

  constructor(parts: BackgroundProcessParts) {
    const { id, command, startedAtMs, process, redaction, sandbox, relays } = parts;
    this.id = id;
    this.command = command;
    this.startedAtMs = startedAtMs;
    this.#process = process;
    this.#relays = relays;
    this.#sandbox = sandbox;
    const watched = watchProcess({
      process,
      sandbox,
      redaction,
      keep: () => new RingOutput(keptBytes.process),
    });
    this.stdout = watched.stdout;
    this.stderr = watched.stderr;
    const over = (): void => void (this.#isOutputOver = true);
    watched.outputEnded.then(over, over);
    this.ended = process.exit
      .then(
        ({ exitCode }) => this.#end(sandbox.state === "running" && !this.#isLost ? "exited" : "lost", exitCode),
        () => this.#end("lost", null),
      )
      .finally(parts.onEnded);
  }

  get state(): BackgroundState {
    return this.#state;
  }

  /** Null while it is running, and if it was lost. */
  get exitCode(): number | null {
    return this.#exitCode;
  }

  /** Its open ports: none once it has ended. */
  get ports(): readonly OpenPort[] {
    return this.#state === "running" ? this.#relays.ports : [];
  }

  /** Whether there will be no more output. */
  get isOutputOver(): boolean {
    return this.#isOutputOver;
  }

  /**
   * Writes to its standard input, and closes that if asked. Accepts no more until earlier input has been read. @throws
   * INVALID_REQUEST if it has ended, TIMEOUT if it does not read
   */
  async write(text: string, end: boolean): Promise<void> {
    const { stdin } = this.#process;
    if (this.#state !== "running") throw this.#refused("takes no more input", "it has ended");
    if (stdin.writableEnded || stdin.destroyed)
      throw this.#refused("takes no more input", "its standard input was closed");
    const late = AbortSignal.timeout(writeMs);
    // With concurrent calls each checks again, because another may have been first.
    while (stdin.writableNeedDrain) if (!(await this.#reads(late))) throw this.#notReading("nothing of this was taken");
    if (text !== "" && !stdin.write(text) && !(await this.#reads(late)))
      throw this.#notReading("it reaches the process when that reads again");
    if (end) stdin.end();
  }

  /** Sends it a signal, which it may survive. @throws INVALID_REQUEST if it has ended, UNSUPPORTED, SANDBOX_LOST */
  async signal(signal: ProcessSignal): Promise<void> {
    if (this.#state !== "running") throw this.#refused("takes no signal", "it has ended");
    if (this.#process.signal === undefined) throw noSignals();
    await this.#process.signal(signal);
  }

  /** Ends it and everything it started. @throws SANDBOX_LOST if something may be left */
  async stop({ atOnce = false, isLost = false }: StopOptions = {}): Promise<void> {
    if (this.#state !== "running") return;
    this.#isLost ||= isLost;
    try {
      const end = atOnce ? "endLeftBehind" : "endProcessAlone";
      if ((await this.#sandbox[end](this.#process)) === "unclean") throw unclean(this.id);
    } finally {
      this.#relays.close();
    }
  }

  #end(state: "exited" | "lost", exitCode: number | null): void {
    this.#state = state;
    this.#relays.close();
    this.#exitCode = state === "exited" ? exitCode : null;
  }

  #refused(what: string, why: string): GloveboxError {
    return new GloveboxError("INVALID_REQUEST", `Process ${this.id} ${what}: ${why}.`, {
      suggestion: "Start another process.",
      context: { process_id: this.id, state: this.#state },
    });
  }

  /** Whether the input was read in time, or will never be read. */
  async #reads(late: AbortSignal): Promise<boolean> {
    const { stdin } = this.#process;
    // Shared by all waiting calls, as each would leave its own listeners behind.
    this.#drained ??= untilWritable(stdin).finally(() => (this.#drained = undefined));
    await untilCancelled(Promise.race([this.#drained, this.ended]), late).catch(() => undefined);
    return this.#state !== "running" || !stdin.writableNeedDrain;
  }

  #notReading(what: string): GloveboxError {
    const { writableLength: bytes } = this.#process.stdin;
    return new GloveboxError(
      "TIMEOUT",
      `Process ${this.id} does not read its standard input: ${bytes} bytes wait for it, and ${what}.`,
      {
        suggestion: "Look at what it does, or stop it.",
        context: { process_id: this.id, waiting_bytes: bytes },
      },
    );
  }
}

/** Maximum running processes of one place, and maximum known ones, including those that have ended. */
const most = { running: 32, known: 64 } as const;

interface BackgroundProcessesOptions {
  /** Where they run, as named in errors. */
  readonly place: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** A process that has begun. */
export interface LaunchedProcess {
  readonly process: Process;
  readonly redaction: BackgroundProcessParts["redaction"];
  readonly sandbox: BackgroundProcessParts["sandbox"] & Pick<Sandbox, "connect">;
  readonly onEnded?: (() => void) | undefined;
}

/** The background processes of one place; the oldest ended ones are dropped. */
export class BackgroundProcesses {
  readonly #options: BackgroundProcessesOptions;
  readonly #known = new Map<string, BackgroundProcess>();
  readonly #starting = new Set<ProcessSpec>();

  constructor(options: BackgroundProcessesOptions) {
    this.#options = options;
  }

  /** In the order of their start. */
  get all(): readonly BackgroundProcess[] {
    return [...this.#known.values()];
  }

  get running(): readonly BackgroundProcess[] {
    return this.all.filter(({ state }) => state === "running");
  }

  /** Starts a background process, with its ports open. @throws CAPACITY, ALREADY_EXISTS, what `launch` throws */
  async start(spec: ProcessSpec, launch: () => Promise<LaunchedProcess>): Promise<BackgroundProcess> {
    this.#assertPlace();
    this.#assertOwnPorts(spec);
    this.#starting.add(spec);
    let launched: LaunchedProcess | null = null;
    try {
      const relays = await PortRelays.open(spec.ports, (port, signal) => connectToProgram(launched, port, signal));
      try {
        launched = await launch();
      } catch (error) {
        relays.close();
        throw error;
      }
      const started = new BackgroundProcess({
        id: createId("proc"),
        command: spec.command,
        startedAtMs: this.#options.now(),
        relays,
        ...launched,
      });
      this.#enter(started);
      return started;
    } finally {
      this.#starting.delete(spec);
    }
  }

  /** @throws NOT_FOUND listing the existing ones */
  find(id: string): BackgroundProcess {
    const found = this.#known.get(id);
    if (found !== undefined) return found;
    const ids = [...this.#known.keys()];
    const shown = JSON.stringify(id.slice(0, 80));
    throw new GloveboxError("NOT_FOUND", `No process of the ${this.#options.place} has the id ${shown}.`, {
      suggestion: ids.length === 0 ? "Start one with start_process." : `There are: ${ids.join(", ")}.`,
      context: { process_id: id.slice(0, 80), process_ids: ids },
    });
  }

  #enter(process: BackgroundProcess): void {
    this.#known.set(process.id, process);
    for (const { id, state } of this.all) {
      if (this.#known.size <= most.known) return;
      if (state !== "running") this.#known.delete(id);
    }
  }

  #assertPlace(): void {
    if (this.running.length + this.#starting.size < most.running) return;
    const { place } = this.#options;
    throw new GloveboxError("CAPACITY", `${most.running} background processes run in this ${place} already.`, {
      suggestion: "Stop some of them with stop_process.",
      context: { limit: most.running },
    });
  }

  /** Otherwise it would be unclear which server is answering. */
  #assertOwnPorts({ ports }: ProcessSpec): void {
    const taken = new Set([
      ...this.running.flatMap((process) => process.ports.map(({ port }) => port)),
      ...[...this.#starting].flatMap((spec) => spec.ports),
    ]);
    const port = ports.find((each) => taken.has(each));
    if (port === undefined) return;
    throw new GloveboxError("ALREADY_EXISTS", `Port ${port} is another background process's already.`, {
      suggestion: "Choose another port, or stop the other process with stop_process.",
      context: { field: "ports", port },
    });
  }
}

function unclean(id: string): GloveboxError {
  return new GloveboxError("SANDBOX_LOST", `Process ${id}, or something that it started, may not have ended.`);
}

function noSignals(): GloveboxError {
  return new GloveboxError("UNSUPPORTED", "A single process cannot be sent signals on this engine.", {
    suggestion: "Leave signal out, which ends the process.",
    context: { field: "signal" },
  });
}
