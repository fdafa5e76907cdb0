import type { ContainerSpec } from "../../container-spec.ts";
import { farUids, HostUids } from "../../container-users.ts";
import { killedExitCode, type Level, type LocalEngineOptions } from "../level.ts";
import { readOwner, hasEnded, groupName, parseGroupOwner, type GroupOwner } from "../group-owner.ts";
import { makeContainerFolder } from "./container-folder.ts";
import { guardCommand } from "./guard-command.ts";
import { toolCommand } from "./host-program.ts";
import { openPreloadHost, type WhyPreload, type PreloadHost } from "./preload-host.ts";
import { PreloadLauncher, UsageWatches, type PreparedProgram } from "./preload-launcher.ts";
import type { Duplex } from "node:stream";
import { settlesWithin, throwIfCancelled, untilCancelled } from "../../../base/abort.ts";
import type { Capabilities } from "../../capabilities.ts";
import type { ContainerStats } from "../../container-stats.ts";
import type {
  CallOptions,
  Container,
  ContainerState,
  ExecSpec,
  Process,
  ProcessExit,
  ProcessSignal,
} from "../../engine.ts";
import {
  attachedAlready,
  lostError,
  noConnections,
  nothingToAttachTo,
  checkExecSpec,
  runsNoImages,
} from "../local-spec.ts";
import type { PreloadRun } from "./preload-run.ts";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { removeOwnTree, type TreeOwner } from "../../../base/remove-own-tree.ts";

/** A program of a container: its streams, and its run once it has been launched. */
class PreloadProcess implements Process {
  readonly stdin: Process["stdin"];
  readonly output: Process["output"];
  readonly exit: Promise<ProcessExit>;
  readonly #exit = Promise.withResolvers<ProcessExit>();
  readonly #program: PreparedProgram;
  #run: PreloadRun | undefined;

  constructor(program: PreparedProgram) {
    this.#program = program;
    this.stdin = program.stdin;
    this.output = program.output;
    this.exit = this.#exit.promise;
    this.exit.catch(() => {
      // A rejection that no caller awaits must not end the server.
    });
  }

  launch(spec: ExecSpec): PreloadRun {
    this.#run = this.#program.launch(spec);
    return this.#run;
  }

  /** The program's life from its launch on; resolves when its streams hold nothing of the container any more. */
  async follow(run: PreloadRun): Promise<void> {
    const end = await run.ended;
    const finished = this.#program.finish();
    this.#exit.resolve(end);
    await finished;
  }

  /** The program was never launched and never will be. */
  async abandon(): Promise<void> {
    this.#exit.reject(lostError());
    await this.#program.finish();
  }

  async kill(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    if (signal === "SIGKILL") await this.#run?.kill();
    else await this.#run?.terminate();
  }

  async signal(signal: ProcessSignal): Promise<void> {
    this.#run?.signal(signal);
  }
}

/**
 * Level `preload`, for hosts without namespaces: programs of the host, guarded from inside their own interpreter. It stops
 * mistakes and simple mischief, not an attacker.
 * @throws ENGINE_UNAVAILABLE when the host has neither Python nor Node
 */
export async function openPreloadLevel(options: LocalEngineOptions, why: WhyPreload): Promise<Level> {
  const { processId, uid, platform } = options;
  const host = await openPreloadHost(options, why);
  if (processId !== undefined) await sweepFolders(host.baseFolder, readOwner(processId), { uid, platform });
  const { version, capabilities, interpreters, installers } = host;
  const { python, node } = interpreters;
  const hostUids = host.changesUser ? new HostUids(farUids, options.randomInteger) : null;
  return {
    version,
    capabilities,
    components: node === null ? [] : [{ name: "Node", version: node.version }],
    setup: { guardsInterpreters: true },
    interpreterPaths: [python, node?.executable ?? null, installers.bun],
    makeContainer: async (spec, { onRemoved }) => {
      const launcher = await makeLauncher({ host, hostUids, spec, options });
      const container = new PreloadContainer({ spec, capabilities, launcher, onRemoved });
      return { container, isRunning: () => container.isRunning };
    },
  };
}

interface LauncherRequest {
  readonly host: PreloadHost;
  /** Null: programs are our own user. */
  readonly hostUids: HostUids | null;
  readonly spec: ContainerSpec;
  readonly options: LocalEngineOptions;
}

async function makeLauncher({ host, hostUids, spec, options }: LauncherRequest): Promise<PreloadLauncher> {
  const { processId, uid, platform, preload = {} } = options;
  const hostUid = hostUids?.take() ?? null;
  const release = (): void => hostUids?.release(hostUid);
  try {
    const folder = await makeContainerFolder({
      base: host.baseFolder,
      prefix: folderPrefix(processId === undefined ? null : readOwner(processId)),
      owner: { uid, platform },
      scratch: spec.scratch,
      copies: spec.mounts ?? [],
      guards: host.guards,
      hostUid,
    });
    const guarded = guardCommand(host.interpreters);
    const arrange = preload.arrange ?? (preload.installs === true ? toolCommand(host.installers, guarded) : guarded);
    return new PreloadLauncher({ spec, host, folder, hostUid, arrange, onRemoved: release });
  } catch (error) {
    release();
    throw error;
  }
}

interface PreloadContainerParts {
  readonly spec: ContainerSpec;
  readonly capabilities: Capabilities;
  readonly launcher: PreloadLauncher;
  /** Called when all of it is gone. */
  readonly onRemoved?: () => void;
}

/** Folders of the host, and guarded programs in them. Without a command of its own no process runs between programs. */
class PreloadContainer implements Container {
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

/** How the name of a container's folder begins, by which it is found once its maker has gone; then comes chance. */
export function folderPrefix(maker: GroupOwner | null): string {
  return maker === null ? "preload-" : groupName(maker, "preload-");
}

/**
 * Removes what servers left in a folder that is ours alone and that ended without removing it; what cannot be removed is
 * left to a later sweep.
 */
async function sweepFolders(base: string, own: GroupOwner, tree: TreeOwner): Promise<void> {
  const left = (await readdir(base)).filter((name) => {
    const maker = parseGroupOwner(name);
    return maker !== null && hasEnded(maker, own);
  });
  await Promise.allSettled(left.map((name) => removeOwnTree(join(base, name), tree)));
}
