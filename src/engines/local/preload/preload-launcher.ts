import { defaultOpenFiles, type ContainerSpec } from "../../container-spec.ts";
import type { ExecSpec, Process } from "../../engine.ts";
import type { ContainerFolder } from "./container-folder.ts";
import { launchPrefix, type ArrangeProgram } from "./host-program.ts";
import type { PreloadHost } from "./preload-host.ts";
import { PreloadRun, memoryIntervalMs } from "./preload-run.ts";
import { PreloadStreams } from "./preload-streams.ts";
import { spawn } from "node:child_process";
import { readdirSync, readlinkSync, statSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { readFromThreads } from "../../../base/process-stat.ts";
import { unknownStats, type ContainerStats } from "../../container-stats.ts";
import { formatBytes } from "../../../base/bytes.ts";
import { HostFolder, isGone } from "../../../base/host-folder.ts";
import { lstat } from "node:fs/promises";
import { basename, dirname } from "node:path";

/** How a process is recognised as a container's, however it got away from the program that started it. */
interface StrayMarks {
  /** The container's folder: where its programs start. */
  readonly folder: string;
  /** The user that only this container's programs are; null: they are ourselves. */
  readonly hostUid: number | null;
}

const maxRounds = 50;
const roundMs = 2;

/** Kills what is left of a container's programs; on Linux, where processes can be told by their folder and user. */
export async function endStrays(marks: StrayMarks, platform: NodeJS.Platform): Promise<void> {
  if (platform !== "linux") return;
  // First, since a look at all processes can miss those that end and start others meanwhile.
  if (marks.hostUid !== null) await killAllOf(marks.hostUid);
  for (let round = 0; round < maxRounds; round++) {
    const strays = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && isStray(name, marks));
    if (strays.length === 0) return;
    for (const stray of strays) kill(Number(stray));
    await setTimeout(roundMs);
  }
}

interface PreloadLauncherParts {
  readonly spec: ContainerSpec;
  readonly host: PreloadHost;
  readonly folder: ContainerFolder;
  /** The host's user that its programs run as; null: our own. */
  readonly hostUid: number | null;
  readonly arrange: ArrangeProgram;
  readonly onRemoved: () => void;
}

/** The streams of one program, and its start. */
export interface PreparedProgram extends Pick<Process, "stdin" | "output"> {
  launch(spec: ExecSpec): PreloadRun;
  /**
   * Called after the program's end, or when it will never be launched: what its streams still hold stays readable.
   * Resolves when nothing is open that the container's removal has to wait for.
   */
  finish(): Promise<void>;
}

/** Starts guarded programs on the host itself, in folders of the host. */
export class PreloadLauncher {
  /** How often the memory of its programs must be looked at; null where it cannot be measured. */
  readonly memoryIntervalMs: number | null;
  /** Real paths of folders, which have no limit of their own and must be measured. */
  readonly unlimitedFolders: readonly string[];
  readonly platform: NodeJS.Platform;
  readonly #parts: PreloadLauncherParts;

  constructor(parts: PreloadLauncherParts) {
    this.#parts = parts;
    this.memoryIntervalMs = memoryIntervalMs(parts.host.platform);
    this.unlimitedFolders = [...parts.folder.places.values()];
    this.platform = parts.host.platform;
  }

  /** Opens streams for a program that is to be launched. */
  async prepare(): Promise<PreparedProgram> {
    await this.#parts.folder.reopen();
    const streams = new PreloadStreams();
    return {
      stdin: streams.stdin,
      output: streams.output,
      launch: (spec) => this.#launch(spec, streams),
      finish: () => streams.finish(),
    };
  }

  /** Starts a program without streams: no input, and output to nowhere. */
  launch(spec: ExecSpec): PreloadRun {
    return this.#launch(spec, null);
  }

  /** As `Container.folderOf`. */
  folderOf(path: string): string {
    return this.#parts.folder.folderOf(path);
  }

  /** Ends processes that escaped when their programs were killed; resolves when nothing is left. */
  async endStrays(): Promise<void> {
    const { folder, hostUid, host } = this.#parts;
    await endStrays({ folder: folder.path, hostUid }, host.platform);
  }

  /** To be called when no program runs. */
  async remove(): Promise<void> {
    await this.#parts.folder.remove();
    this.#parts.onRemoved();
  }

  #launch(request: ExecSpec, streams: PreloadStreams | null): PreloadRun {
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
      // The watch ends what grows slowly; this stops what is faster than the watch.
      dataBytes: program.boundsData ? 2 * limits.memoryBytes : null,
      hostUid,
    });
    return new PreloadRun({
      platform: host.platform,
      command: [...prefix, program.file, ...program.arguments],
      environment: program.environment,
      workingDirectory: folder.folderOf(request.workingDirectory ?? spec.workingDirectory ?? "/"),
      streams,
    });
  }
}

interface MemoryWatchOptions {
  /** For all programs of a container together. */
  readonly limitBytes: number;
  readonly intervalMs: number;
  /** Those that run now. */
  readonly runs: ReadonlySet<PreloadRun>;
}

/**
 * Replaces a memory limit of the kernel: looks at the memory of a container's programs and, when together they use
 * more, ends the largest one with everything it started. What is used only between two looks is not seen.
 */
class MemoryWatch {
  readonly #options: MemoryWatchOptions;
  readonly #ended = new WeakSet<PreloadRun>();
  /** Highest use seen of all together; null when nothing was seen. */
  #peakBytes: number | null = null;
  #kills = 0;
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<number> | undefined;

  constructor(options: MemoryWatchOptions) {
    this.#options = options;
  }

  /** To be called when a program has begun. */
  start(): void {
    this.#timer ??= setInterval(() => {
      if (this.#options.runs.size === 0) this.#stop();
      else void this.#look();
    }, this.#options.intervalMs).unref();
  }

  /** Looks now. */
  async stats(): Promise<ContainerStats> {
    const memoryBytes = await this.#look();
    return { ...unknownStats, memoryBytes, memoryPeakBytes: this.#peakBytes, oomKills: this.#kills };
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #look(): Promise<number> {
    this.#looking ??= this.#measure().finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  async #measure(): Promise<number> {
    const uses = await Promise.all(
      [...this.#options.runs].map(async (run) => ({
        run,
        ...((await run.readMemory()) ?? { bytes: 0, peakBytes: 0 }),
      })),
    );
    const [largest] = uses.toSorted((a, b) => b.bytes - a.bytes);
    if (largest === undefined) return 0;
    const total = uses.reduce((sum, { bytes }) => sum + bytes, 0);
    this.#peakBytes = Math.max(this.#peakBytes ?? 0, total, ...uses.map(({ peakBytes }) => peakBytes));
    if (total > this.#options.limitBytes) this.#end(largest.run);
    return total;
  }

  #end(run: PreloadRun): void {
    if (this.#ended.has(run)) return;
    this.#ended.add(run);
    this.#kills++;
    const limit = formatBytes(this.#options.limitBytes);
    void run.endFor(`the program was killed because it used more than ${limit} of memory`);
  }
}

/** Folders in folders, each of which is held open while it is measured. */
const maxDepth = 500;
const tooDeep = `folders are more than ${maxDepth} deep, where nothing is measured`;

/**
 * Bytes that everything below the folders takes on disk; what goes away meanwhile does not count. Their programs may do there what
 * they like meanwhile: no link is followed, and what they close to themselves is opened again. Infinite for folders too deep to
 * measure. @throws Node's error where one cannot be looked into, such as when this process has no descriptor left
 */
export async function folderSize(folders: readonly string[], platform: NodeJS.Platform): Promise<number> {
  let total = 0;
  const onTooDeep = (): void => void (total = Number.POSITIVE_INFINITY);
  for (const place of folders) {
    const stat = await lstat(place).catch((error: unknown) => {
      if (!isGone(error)) throw error;
      return null;
    });
    // From the folder above, which is ours: a program may close its own.
    if (stat === null) continue;
    await using opened = await HostFolder.of({ stablePath: dirname(place) }, platform);
    const found = opened.walk({ maxDepth, reopensOf: stat.uid, onTooDeep });
    for await (const entry of found) {
      if (entry.level === 1 && entry.name !== basename(place)) entry.passBy();
      else if (!entry.stat.isDirectory()) total += sizeOnDisk(entry.stat);
    }
  }
  return total;
}

interface DiskWatchOptions {
  /** Real paths. */
  readonly folders: readonly string[];
  readonly platform: NodeJS.Platform;
  /** For all of them together. */
  readonly limitBytes: number;
  /** Programs that run now. */
  readonly runs: ReadonlySet<Pick<PreloadRun, "endFor">>;
}

/** How often the folders are measured (SPEC RT6). */
const intervalMs = 1_000;
/** Failed measurements in a row: a descriptor may be missing for a moment, but without measurements there is no limit. */
const maxFailures = 3;
const unmeasured = "files cannot be measured";

/**
 * Replaces a limit for folders that the kernel does not limit: ends all programs when their files use more, and when it
 * cannot be told any more how much they use.
 */
export class DiskWatch {
  readonly #options: DiskWatchOptions;
  #timer: NodeJS.Timeout | undefined;
  #measuring = false;
  #failures = 0;

  constructor(options: DiskWatchOptions) {
    this.#options = options;
  }

  /** To be called when a program has begun. */
  start(): void {
    this.#timer ??= setInterval(() => {
      if (this.#options.runs.size === 0) this.#stop();
      else if (!this.#measuring) void this.#measure();
    }, intervalMs).unref();
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #measure(): Promise<void> {
    this.#measuring = true;
    const why = await this.#excess();
    this.#measuring = false;
    if (why === null) return;
    const reason = `the program was killed because its ${why}`;
    await Promise.all([...this.#options.runs].map((run) => run.endFor(reason)));
  }

  /** What is wrong with the programs' files; null: nothing, or it may have been a bad moment to measure them. */
  async #excess(): Promise<string | null> {
    const { folders, platform, limitBytes } = this.#options;
    try {
      const bytes = await folderSize(folders, platform);
      this.#failures = 0;
      if (bytes <= limitBytes) return null;
      return Number.isFinite(bytes) ? `files take more than ${formatBytes(limitBytes)}` : tooDeep;
    } catch {
      this.#failures += 1;
      return this.#failures < maxFailures ? null : unmeasured;
    }
  }
}

interface UsageWatchesOptions {
  readonly spec: ContainerSpec;
  readonly launcher: PreloadLauncher;
  /** Programs that run now. */
  readonly runs: ReadonlySet<PreloadRun>;
}

/** The watches over one container, for what the kernel does not limit there. */
export class UsageWatches {
  readonly #memory: MemoryWatch | null;
  readonly #disk: DiskWatch | null;

  constructor({ spec, launcher, runs }: UsageWatchesOptions) {
    const { memoryIntervalMs: intervalMs, unlimitedFolders: folders, platform } = launcher;
    const scratchBytes = spec.scratch.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    this.#memory =
      intervalMs === null ? null : new MemoryWatch({ limitBytes: spec.limits.memoryBytes, intervalMs, runs });
    this.#disk = folders.length === 0 ? null : new DiskWatch({ folders, platform, limitBytes: scratchBytes, runs });
  }

  /** To be called when a program has begun; they stop by themselves. */
  start(): void {
    this.#memory?.start();
    this.#disk?.start();
  }

  async stats(): Promise<ContainerStats> {
    return this.#memory === null ? unknownStats : this.#memory.stats();
  }
}

function isStray(id: string, { folder, hostUid }: StrayMarks): boolean {
  const place = readFromThreads(Number(id), readPlace);
  // Processes that have ended have no folder any more.
  if (place === null) return false;
  if (place.startsWith(`${folder}/`)) return true;
  try {
    return hostUid !== null && statSync(`/proc/${id}`).uid === hostUid;
  } catch {
    // It has ended meanwhile.
    return false;
  }
}

/** Null of a thread that has ended, and of another user's. */
function readPlace(thread: string): string | null {
  try {
    return readlinkSync(`${thread}/cwd`);
  } catch {
    return null;
  }
}

/** Kills all processes of a user at one moment, so that none of them can start another meanwhile. */
async function killAllOf(uid: number): Promise<void> {
  const killer = spawn("/bin/sh", ["-c", "kill -KILL -1"], { uid, gid: uid, cwd: "/", env: {}, stdio: "ignore" });
  // Where it cannot be started, what a look finds is killed one by one.
  await new Promise<void>((resolve) => killer.once("error", () => resolve()).once("exit", () => resolve()));
}

function kill(id: number): void {
  try {
    process.kill(id, "SIGKILL");
  } catch {
    // It has ended meanwhile.
  }
}

/** Sparse files take less than their length; Windows tells no blocks. */
function sizeOnDisk({ blocks, size }: { readonly blocks?: number; readonly size: number }): number {
  return blocks === undefined ? size : blocks * 512;
}
