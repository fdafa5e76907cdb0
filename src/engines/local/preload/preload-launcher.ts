import { defaultOpenFiles, type ContainerSpec } from "../../container-spec.ts";
import type { ExecSpec, Process } from "../../engine.ts";
import type { ContainerFolder } from "./container-folder.ts";
import type { ArrangeProgram } from "./host-program.ts";
import { launchPrefix } from "./launch-prefix.ts";
import type { PreloadHost } from "./preload-host.ts";
import { PreloadRun } from "./preload-run.ts";
import { PreloadStreams } from "./preload-streams.ts";
import { memoryIntervalMs } from "./memory-use.ts";
import { spawn } from "node:child_process";
import { readdirSync, readlinkSync, statSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { readFromThreads } from "../../../base/process-stat.ts";

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

export interface PreloadLauncherParts {
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
