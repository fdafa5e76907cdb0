import { noImages } from "./only-the-host.ts";
import { closeSync } from "node:fs";
import type { Duplex } from "node:stream";
import { settlesWithin, throwIfCancelled, untilCancelled } from "../../base/abort.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { CallOptions, Container, ContainerState, ContainerStats, ExecSpec, Process } from "../engine.ts";
import { assertPort, bridgeLost, nothingListens } from "../port-errors.ts";
import { killedExitCode, LocalProcess, lostError, programEnd } from "./local-process.ts";
import { checkExecSpec } from "./local-spec.ts";
import { MemoryWatch } from "./bubblewrap/memory-watch.ts";
import { prepareRun, type ContainerParts } from "./bubblewrap/run/prepare-run.ts";
import { SandboxRun } from "./bubblewrap/run/sandbox-run.ts";

export interface LocalContainerParts extends ContainerParts {
  /** Called when all of it is gone. */
  readonly onRemoved: () => void;
}

/**
 * A container of the embedded engine: files and limits that last, and a sandbox of its own for each program.
 * What a program leaves running ends with it; without a command of its own no process at all runs between programs.
 */
export class LocalContainer implements Container {
  readonly id: string;
  readonly #parts: LocalContainerParts;
  /** Null where a control group limits the memory. */
  readonly #memoryWatch: MemoryWatch | null;
  readonly #runs = new Set<SandboxRun>();
  /** Settle when nothing is left of a program. */
  readonly #lives = new Set<Promise<void>>();
  readonly #ended = Promise.withResolvers<void>();
  #phase: "created" | "running" | "ended" = "created";
  #exitCode: number | null = null;
  #lastStats: ContainerStats | undefined;
  #isAttached = false;
  /** Whether a program has been started in it. */
  #hasRun = false;
  /** Waits for its launch. */
  #attached: LocalProcess | undefined;
  #main: SandboxRun | undefined;
  #removal: Promise<void> | undefined;

  constructor(parts: LocalContainerParts) {
    this.id = parts.spec.name;
    this.#parts = parts;
    const { spec, host } = parts;
    const isHard = host.capabilities.memoryLimit === "yes";
    this.#memoryWatch = isHard ? null : new MemoryWatch({ limitBytes: spec.limits.memoryBytes, runs: this.#runs });
  }

  get isRunning(): boolean {
    return this.#phase === "running";
  }

  async attach({ signal }: CallOptions = {}): Promise<Process> {
    throwIfCancelled(signal);
    if (this.#parts.spec.command === undefined) throw nothingToAttachTo();
    if (this.#phase !== "created" || this.#removal !== undefined) throw lostError();
    if (this.#isAttached) {
      throw new GloveboxError("ALREADY_EXISTS", "The container's main process is attached to already.");
    }
    this.#isAttached = true;
    let process: LocalProcess;
    try {
      process = await this.#prepare(signal);
    } catch (error) {
      this.#isAttached = false;
      throw error;
    }
    this.#attached = process;
    // It may have been removed while the pipes were made.
    if (this.#removal !== undefined) await process.abandon();
    return process;
  }

  async start({ signal }: CallOptions = {}): Promise<void> {
    throwIfCancelled(signal);
    if (this.#phase === "running") return;
    if (this.#phase === "ended" || this.#removal !== undefined) throw lostError();
    const { command } = this.#parts.spec;
    this.#phase = "running";
    if (command === undefined) return;
    try {
      const run = this.#launch({ command }, this.#attached);
      this.#main = run;
      void this.#endWith(run);
    } catch (error) {
      this.#end(killedExitCode);
      await this.#attached?.abandon();
      throw error;
    }
  }

  async exec(spec: ExecSpec, { signal }: CallOptions = {}): Promise<Process> {
    throwIfCancelled(signal);
    checkExecSpec(spec, this.#parts.spec);
    if (!this.isRunning) throw lostError();
    const process = await this.#prepare(signal);
    let run: SandboxRun;
    try {
      // It may have ended while the pipes were made.
      if (!this.isRunning) throw lostError();
      run = this.#launch(spec, process);
    } catch (error) {
      await process.abandon();
      throw error;
    }
    await Promise.race([run.launched, run.ended]);
    if (signal?.aborted) {
      await run.kill();
      await run.ended;
      throwIfCancelled(signal);
    }
    return process;
  }

  async connect(port: number, { signal }: CallOptions = {}): Promise<Duplex> {
    throwIfCancelled(signal);
    assertPort(port);
    if (!this.isRunning) throw lostError();
    for (const run of [...this.#runs].toReversed()) {
      const answer = await untilCancelled(run.connect(port, signal), signal);
      if (answer === "lost") throw bridgeLost(port, null);
      if (typeof answer === "object") return answer;
    }
    throw nothingListens(port);
  }

  async inspect({ signal }: CallOptions = {}): Promise<ContainerState> {
    throwIfCancelled(signal);
    const { oomKills } = this.#readStats();
    return { running: this.isRunning, exitCode: this.#exitCode, oomKilled: oomKills === null ? null : oomKills > 0 };
  }

  commit(): Promise<never> {
    return Promise.reject(noImages("none can be made"));
  }

  writtenBytes(): Promise<null> {
    return Promise.resolve(null);
  }

  writtenFolder(): Promise<null> {
    return Promise.resolve(null);
  }

  async stats({ signal }: CallOptions = {}): Promise<ContainerStats> {
    throwIfCancelled(signal);
    return this.#readStats();
  }

  async wait({ signal }: CallOptions = {}): Promise<ContainerState> {
    throwIfCancelled(signal);
    await untilCancelled(this.#ended.promise, signal);
    return this.inspect();
  }

  async stop(graceMs: number, { signal }: CallOptions = {}): Promise<void> {
    throwIfCancelled(signal);
    if (this.isRunning) {
      const runs = this.#main === undefined ? [...this.#runs] : [this.#main];
      const ended = Promise.all(runs.map((run) => run.ended));
      const gone = Promise.all([...runs.map((run) => run.terminate()), ended]);
      await untilCancelled(settlesWithin(gone, graceMs), signal);
    }
    await this.kill({ signal });
  }

  async kill({ signal }: CallOptions = {}): Promise<void> {
    throwIfCancelled(signal);
    await untilCancelled(this.#killAll(), signal);
  }

  async remove({ signal }: CallOptions = {}): Promise<void> {
    throwIfCancelled(signal);
    this.#removal ??= this.#remove();
    await untilCancelled(this.#removal, signal);
  }

  async #killAll(): Promise<void> {
    if (this.#phase === "created") return;
    const endsWithMain = this.#main !== undefined;
    const hadEnded = this.#phase === "ended";
    if (!endsWithMain) this.#phase = "ended";
    await Promise.all([...this.#runs].map((run) => run.kill()));
    await Promise.all(this.#lives);
    if (endsWithMain) await this.#ended.promise;
    else if (!hadEnded) this.#end(killedExitCode);
  }

  async #remove(): Promise<void> {
    await this.#killAll();
    this.#end(this.#exitCode);
    await this.#attached?.abandon();
    this.#lastStats = this.#readStats();
    closeSync(this.#parts.mountDescriptor);
    await this.#parts.group.remove();
    this.#parts.onRemoved();
  }

  /** The main process's end is the container's. */
  async #endWith(main: SandboxRun): Promise<void> {
    const end = await programEnd(main);
    const exitCode = end instanceof GloveboxError ? killedExitCode : end.exitCode;
    this.#phase = "ended";
    this.#exitCode = exitCode;
    await Promise.all([...this.#runs].map((run) => run.kill()));
    await Promise.all(this.#lives);
    this.#end(exitCode);
  }

  #end(exitCode: number | null): void {
    this.#phase = "ended";
    this.#exitCode = exitCode;
    this.#ended.resolve();
  }

  #readStats(): ContainerStats {
    const { memoryBytes, memoryPeakBytes, oomKills } = this.#lastStats ?? this.#memoryWatch ?? this.#parts.group;
    return { memoryBytes, memoryPeakBytes, oomKills };
  }

  async #prepare(signal: AbortSignal | undefined): Promise<LocalProcess> {
    const process = await LocalProcess.open(this.#parts.host.pipes);
    if (signal?.aborted) {
      await process.abandon();
      throwIfCancelled(signal);
    }
    return process;
  }

  #launch(spec: ExecSpec, process: LocalProcess | undefined): SandboxRun {
    const { group } = this.#parts;
    group.countSandbox(true);
    let run: SandboxRun;
    try {
      const place = { ends: process?.ends ?? null, isFirst: !this.#hasRun };
      this.#hasRun = true;
      run = new SandboxRun(prepareRun(this.#parts, spec, place));
    } catch (error) {
      group.countSandbox(false);
      throw error;
    }
    this.#attached = undefined;
    this.#runs.add(run);
    this.#memoryWatch?.start();
    const life = Promise.all([run.ended, process?.follow(run)]).then(() => {
      this.#runs.delete(run);
      this.#lives.delete(life);
      group.countSandbox(false);
    });
    this.#lives.add(life);
    return run;
  }
}

function nothingToAttachTo(): GloveboxError {
  return new GloveboxError("UNSUPPORTED", "The container has no command of its own to attach to.", {
    suggestion: "Run a program in it instead.",
  });
}
