import { noImages } from "../only-the-host.ts";
import { settlesWithin, throwIfCancelled, untilCancelled } from "../../../base/abort.ts";
import { formatBytes } from "../../../base/bytes.ts";
import { GloveboxError } from "../../../errors/glovebox-error.ts";
import type { ContainerSpec } from "../../container-spec.ts";
import type { CallOptions, Container, ContainerState, ContainerStats, ExecSpec, Process } from "../../engine.ts";
import { killedExitCode, lostError } from "../local-process.ts";
import { checkExecSpec } from "../local-spec.ts";
import { endStrays } from "./processes/end-strays.ts";
import type { ContainerFolder } from "./folders/container-folder.ts";
import { folderSize } from "./folders/folder-size.ts";
import type { ArrangeProgram } from "./guards/host-program.ts";
import { launchPrefix } from "./launch-prefix.ts";
import { MemoryWatch } from "./memory-watch.ts";
import type { PreloadHost } from "./preload-host.ts";
import { PreloadProcess } from "./preload-process.ts";
import { PreloadRun } from "./preload-run.ts";

export interface PreloadContainerParts {
  readonly spec: ContainerSpec;
  readonly host: PreloadHost;
  readonly folder: ContainerFolder;
  /** The host's user that its programs run as; null: our own. */
  readonly hostUid: number | null;
  readonly arrange: ArrangeProgram;
  readonly onRemoved: () => void;
}

const defaultOpenFiles = 16_384;
/** How often the folders are measured (SPEC RT6). */
const diskIntervalMs = 1_000;

/** A container of level `preload`: a folder of the host, and guarded programs of the host that run in it. */
export class PreloadContainer implements Container {
  readonly id: string;
  readonly #parts: PreloadContainerParts;
  readonly #runs = new Set<PreloadRun>();
  readonly #memory: MemoryWatch;
  readonly #ended = Promise.withResolvers<void>();
  #phase: "created" | "running" | "ended" = "created";
  #exitCode: number | null = null;
  #attached: PreloadProcess | undefined;
  #main: PreloadRun | undefined;
  #diskWatch: NodeJS.Timeout | undefined;
  #removal: Promise<void> | undefined;

  constructor(parts: PreloadContainerParts) {
    this.id = parts.spec.name;
    this.#parts = parts;
    const { memoryBytes } = parts.spec.limits;
    this.#memory = new MemoryWatch({ runs: this.#runs, limitBytes: memoryBytes, platform: parts.host.platform });
  }

  get isRunning(): boolean {
    return this.#phase === "running";
  }

  folderOf(path: string): string {
    return this.#parts.folder.folderOf(path);
  }

  async attach({ signal }: CallOptions = {}): Promise<Process> {
    throwIfCancelled(signal);
    if (this.#parts.spec.command === undefined) throw nothingToAttachTo();
    if (this.#phase !== "created" || this.#removal !== undefined) throw lostError();
    if (this.#attached !== undefined) {
      throw new GloveboxError("ALREADY_EXISTS", "The container's main process is attached to already.");
    }
    this.#attached = new PreloadProcess();
    return this.#attached;
  }

  async start({ signal }: CallOptions = {}): Promise<void> {
    throwIfCancelled(signal);
    if (this.#phase === "running") return;
    if (this.#phase === "ended" || this.#removal !== undefined) throw lostError();
    const { command } = this.#parts.spec;
    this.#phase = "running";
    this.#watchDisk();
    this.#memory.start();
    if (command === undefined) return;
    try {
      this.#main = this.#launch({ command }, this.#attached ?? null);
    } catch (error) {
      this.#attached?.abandon();
      this.#end(killedExitCode);
      throw error;
    }
    void this.#main.ended.then((exitCode) => this.#endAll(exitCode));
  }

  async exec(spec: ExecSpec, { signal }: CallOptions = {}): Promise<Process> {
    throwIfCancelled(signal);
    checkExecSpec(spec, this.#parts.spec);
    if (!this.isRunning) throw lostError();
    await this.#parts.folder.reopen();
    const process = new PreloadProcess();
    this.#launch(spec, process);
    return process;
  }

  connect(): Promise<never> {
    return Promise.reject(noConnections());
  }

  async inspect({ signal }: CallOptions = {}): Promise<ContainerState> {
    throwIfCancelled(signal);
    return { running: this.isRunning, exitCode: this.#exitCode, oomKilled: this.#memory.kills > 0 };
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
    const memoryBytes = await this.#memory.look();
    return { memoryBytes, memoryPeakBytes: this.#memory.peakBytes, oomKills: this.#memory.kills };
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
      const gone = Promise.all(runs.flatMap((run) => [run.signal("SIGTERM"), run.ended]));
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
    if (this.#main !== undefined) {
      await this.#main.signal("SIGKILL");
      return this.#ended.promise;
    }
    if (this.#phase !== "created") this.#end(killedExitCode);
    await this.#killRuns();
  }

  async #killRuns(): Promise<void> {
    const { host, folder, hostUid } = this.#parts;
    const runs = [...this.#runs];
    await Promise.all(runs.map((run) => run.signal("SIGKILL")));
    await endStrays({ folder: folder.path, hostUid }, host.platform);
    await Promise.all(runs.map((run) => run.ended));
  }

  /** The main process's end is the container's. */
  async #endAll(exitCode: number): Promise<void> {
    this.#phase = "ended";
    this.#exitCode = exitCode;
    await this.#killRuns();
    this.#end(exitCode);
  }

  async #remove(): Promise<void> {
    await this.#killAll();
    if (this.#main === undefined) this.#attached?.abandon();
    this.#end(this.#exitCode);
    await this.#parts.folder.remove();
    this.#parts.onRemoved();
  }

  #end(exitCode: number | null): void {
    clearInterval(this.#diskWatch);
    this.#memory.stop();
    this.#phase = "ended";
    this.#exitCode = exitCode;
    this.#ended.resolve();
  }

  #launch(request: ExecSpec, process: PreloadProcess | null): PreloadRun {
    const { spec, host, folder, hostUid, arrange } = this.#parts;
    const { limits } = spec;
    const environment = { ...host.environmentFor(folder.temporaryFolder), ...spec.environment, ...request.environment };
    const program = arrange({
      command: request.command,
      environment,
      writable: [...folder.places.values()],
      readable: [...folder.readOnly.values()],
      guardFolder: folder.guardFolder,
      temporaryFolder: folder.temporaryFolder,
      folderOf: folder.folderOf,
      threads: limits.pids,
      memoryBytes: limits.memoryBytes,
    });
    const prefix = launchPrefix(host.tools, {
      openFiles: Math.min(limits.openFiles ?? defaultOpenFiles, host.openFilesCeiling),
      fileBytes: Math.max(0, ...spec.scratch.map(({ sizeBytes }) => sizeBytes)),
      // The watch ends what grows slowly; this stops what outruns it.
      dataBytes: program.boundsData ? 2 * limits.memoryBytes : null,
      hostUid,
    });
    const run = new PreloadRun({
      platform: host.platform,
      command: [...prefix, program.file, ...program.arguments],
      environment: program.environment,
      workingDirectory: folder.folderOf(request.workingDirectory ?? spec.workingDirectory ?? "/"),
      process,
    });
    this.#runs.add(run);
    void run.ended.then(() => this.#runs.delete(run));
    return run;
  }

  #watchDisk(): void {
    const { spec, folder } = this.#parts;
    const mostBytes = spec.scratch.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    const places = [...folder.places.values()];
    let measuring = false;
    this.#diskWatch = setInterval(() => {
      if (measuring || this.#runs.size === 0) return;
      measuring = true;
      void folderSize(places).then(async (bytes) => {
        measuring = false;
        if (bytes <= mostBytes) return;
        const reason = `the program was ended, because its files take more than ${formatBytes(mostBytes)}`;
        await Promise.all([...this.#runs].map((run) => run.endFor(reason)));
      });
    }, diskIntervalMs);
    this.#diskWatch.unref();
  }
}

function noConnections(): GloveboxError {
  return new GloveboxError("UNSUPPORTED", "At isolation preload programs have no network, so none can listen.", {
    suggestion: "Choose an engine with a higher isolation (`glovebox doctor` lists them).",
    context: { missing: "execNetwork", isolation: "preload" },
  });
}

function nothingToAttachTo(): GloveboxError {
  return new GloveboxError("UNSUPPORTED", "The container has no command of its own to attach to.", {
    suggestion: "Run a program in it instead.",
  });
}
