import type { Duplex } from "node:stream";
import { settlesWithin, throwIfCancelled, untilCancelled } from "../../../base/abort.ts";
import type { Capabilities } from "../../capabilities.ts";
import type { ContainerSpec } from "../../container-spec.ts";
import type { ContainerStats } from "../../container-stats.ts";
import type { CallOptions, Container, ContainerState, ExecSpec, Process } from "../../engine.ts";
import { killedExitCode } from "../level.ts";
import { attachedAlready, lostError, noConnections, nothingToAttachTo } from "../local-errors.ts";
import { PreloadProcess } from "./preload-process.ts";
import { checkExecSpec } from "../local-spec.ts";
import { runsNoImages } from "../no-images.ts";
import type { PreloadLauncher } from "./preload-launcher.ts";
import type { PreloadRun } from "./preload-run.ts";
import { UsageWatches } from "./watches/usage-watches.ts";

export interface PreloadContainerParts {
  readonly spec: ContainerSpec;
  readonly capabilities: Capabilities;
  readonly launcher: PreloadLauncher;
  /** Called when all of it is gone. */
  readonly onRemoved?: () => void;
}

/** Folders of the host, and guarded programs in them. Without a command of its own no process runs between programs. */
export class PreloadContainer implements Container {
  readonly id: string;
  readonly #parts: PreloadContainerParts;
  readonly #runs = new Set<PreloadRun>();
  /** Settle when nothing is left of a program. */
  readonly #lives = new Set<Promise<void>>();
  readonly #watches: UsageWatches;
  readonly #ended = Promise.withResolvers<void>();
  #phase: "created" | "running" | "ended" = "created";
  #exitCode: number | null = null;
  #lastStats: ContainerStats | undefined;
  #isAttached = false;
  /** Waits for its launch. */
  #attached: PreloadProcess | undefined;
  #main: PreloadRun | undefined;
  #removal: Promise<void> | undefined;

  constructor(parts: PreloadContainerParts) {
    this.id = parts.spec.name;
    this.#parts = parts;
    this.#watches = new UsageWatches({ spec: parts.spec, launcher: parts.launcher, runs: this.#runs });
  }

  get isRunning(): boolean {
    return this.#phase === "running";
  }

  folderOf(path: string): string {
    return this.#parts.launcher.folderOf(path);
  }

  async attach({ signal }: CallOptions = {}): Promise<Process> {
    throwIfCancelled(signal);
    if (this.#parts.spec.command === undefined) throw nothingToAttachTo();
    if (this.#phase !== "created" || this.#removal !== undefined) throw lostError();
    if (this.#isAttached) throw attachedAlready();
    this.#isAttached = true;
    let process: PreloadProcess;
    try {
      process = await this.#prepare(signal);
    } catch (error) {
      this.#isAttached = false;
      throw error;
    }
    this.#attached = process;
    // It may have been removed while the streams were made.
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
    let run: PreloadRun;
    try {
      // It may have ended while the streams were made.
      if (!this.isRunning) throw lostError();
      run = this.#launch(spec, process);
    } catch (error) {
      await process.abandon();
      throw error;
    }
    if (signal?.aborted) {
      await run.kill();
      await run.ended;
      throwIfCancelled(signal);
    }
    return process;
  }

  connect(): Promise<Duplex> {
    return Promise.reject(noConnections(this.#parts.capabilities.isolation));
  }

  async inspect({ signal }: CallOptions = {}): Promise<ContainerState> {
    throwIfCancelled(signal);
    const { oomKills } = this.#lastStats ?? (await this.#watches.stats());
    return { running: this.isRunning, exitCode: this.#exitCode, oomKilled: oomKills === null ? null : oomKills > 0 };
  }

  commit(): Promise<never> {
    return Promise.reject(runsNoImages("none can be made"));
  }

  writtenBytes(): Promise<null> {
    return Promise.resolve(null);
  }

  writtenFolder(): Promise<null> {
    return Promise.resolve(null);
  }

  isAlive(): Promise<boolean> {
    return Promise.resolve(this.isRunning);
  }

  async stats({ signal }: CallOptions = {}): Promise<ContainerStats> {
    throwIfCancelled(signal);
    return this.#lastStats ?? this.#watches.stats();
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
      const gone = Promise.all(runs.flatMap((run) => [run.terminate(), run.ended]));
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
    await this.#endPrograms();
    if (endsWithMain) await this.#ended.promise;
    else if (!hadEnded) this.#end(killedExitCode);
  }

  async #endPrograms(): Promise<void> {
    await Promise.all([...this.#runs].map((run) => run.kill()));
    await this.#parts.launcher.endStrays();
    await Promise.all(this.#lives);
  }

  async #remove(): Promise<void> {
    await this.#killAll();
    this.#end(this.#exitCode);
    await this.#attached?.abandon();
    this.#lastStats = await this.#watches.stats();
    await this.#parts.launcher.remove();
    this.#parts.onRemoved?.();
  }

  /** The main process's end is the container's. */
  async #endWith(main: PreloadRun): Promise<void> {
    const { exitCode } = await main.ended;
    this.#phase = "ended";
    this.#exitCode = exitCode;
    await this.#endPrograms();
    this.#end(exitCode);
  }

  #end(exitCode: number | null): void {
    this.#phase = "ended";
    this.#exitCode = exitCode;
    this.#ended.resolve();
  }

  async #prepare(signal: AbortSignal | undefined): Promise<PreloadProcess> {
    const process = new PreloadProcess(await this.#parts.launcher.prepare());
    if (signal?.aborted) {
      await process.abandon();
      throwIfCancelled(signal);
    }
    return process;
  }

  #launch(spec: ExecSpec, process: PreloadProcess | undefined): PreloadRun {
    const run = process?.launch(spec) ?? this.#parts.launcher.launch(spec);
    this.#attached = undefined;
    this.#runs.add(run);
    this.#watches.start();
    const life = Promise.all([run.ended, process?.follow(run)]).then(() => {
      this.#runs.delete(run);
      this.#lives.delete(life);
    });
    this.#lives.add(life);
    return run;
  }
}
