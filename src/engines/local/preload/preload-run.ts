import { execFile, spawn, type ChildProcess } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { kibibyte } from "../../../base/bytes.ts";
import { readFromThreads, readProcessStat } from "../../../base/process-stat.ts";
import { constants } from "node:os";
import type { ProcessExit, ProcessSignal } from "../../engine.ts";
import type { PreloadStreams } from "./preload-streams.ts";
import { setTimeout } from "node:timers/promises";
import { promisify } from "node:util";

/** Memory of a process, or of several together. */
interface MemoryUse {
  readonly bytes: number;
  readonly peakBytes: number;
}

/** How often programs are looked at; `ps` costs a process. Null where nothing can be learned. */
export function memoryIntervalMs(platform: NodeJS.Platform): number | null {
  if (platform === "linux") return 50;
  return platform === "win32" ? null : 500;
}

/** Reads a `status` of `/proc`; null of a thread that has ended, and once a process has given its memory back. */
export function parseStatus(status: string): MemoryUse | null {
  const bytes = kibibytesOf(/^VmRSS:\s+(\d+) kB$/m.exec(status));
  const peakBytes = kibibytesOf(/^VmHWM:\s+(\d+) kB$/m.exec(status));
  return bytes === null || peakBytes === null ? null : { bytes, peakBytes };
}

/** Memory of a process now; null when it has ended. */
export async function readMemory(processId: number, platform: NodeJS.Platform): Promise<MemoryUse | null> {
  if (platform === "linux") return readFromThreads(processId, readStatus);
  const output = await new Promise<string>((resolve) => {
    execFile("/bin/ps", ["-o", "rss=", "-p", String(processId)], { env: {} }, (_error, stdout) => resolve(stdout));
  });
  const bytes = kibibytesOf(/^\s*(\d+)\s*$/.exec(output));
  return bytes === null ? null : { bytes, peakBytes: bytes };
}

/** Rounds in which a family may still start children while it is being killed. */
const maxRounds = 50;
const roundMs = 2;

/** Sends the signal to a program and all that it started; SIGKILL until nothing is left. */
export async function signalFamily(
  leader: number,
  signal: "SIGTERM" | "SIGKILL",
  platform: NodeJS.Platform,
): Promise<void> {
  if (platform === "win32") return runTaskkill(taskkillArguments(leader, signal));
  for (let round = 0; round < maxRounds; round++) {
    const rows = await readProcessTable(platform);
    const family = familyOf(leader, rows);
    // A group is killed at one moment: none of its members can start another meanwhile, as they can between two of our kills.
    if (signal === "SIGKILL") for (const group of groupsOf(family, rows)) send(-group, signal);
    const reached = family.filter((id) => send(id, signal));
    if (signal === "SIGTERM" || reached.length === 0) return;
    await setTimeout(roundMs);
  }
}

/** Windows ends whole trees by itself; without /F it only asks programs with windows. */
export function taskkillArguments(leader: number, signal: "SIGTERM" | "SIGKILL"): readonly string[] {
  return ["/PID", String(leader), "/T", ...(signal === "SIGKILL" ? ["/F"] : [])];
}

/**
 * A program and whatever it may have started: its descendants, its process group and its session, and theirs. The
 * program leads a group and a session of its own, so that these outlive it as marks of those that it left behind.
 */
export function familyOf(leader: number, rows: readonly ProcessRow[]): readonly number[] {
  const family = new Set<number>([leader]);
  for (let before = -1; before !== family.size;) {
    before = family.size;
    for (const { id, parent, group, session } of rows) {
      if (family.has(parent) || family.has(group) || (session !== null && family.has(session))) family.add(id);
    }
  }
  const present = new Set(rows.map(({ id }) => id));
  return [...family].filter((id) => present.has(id));
}

/** The process groups of a family: all of them are its own, since nothing joins a group of another session. */
export function groupsOf(family: readonly number[], rows: readonly ProcessRow[]): readonly number[] {
  const members = new Set(family);
  const groups = new Set(rows.filter(({ id }) => members.has(id)).map(({ group }) => group));
  // To the system, groups 0 and 1 are ours and everyone's.
  return [...groups].filter((group) => group > 1);
}

/** One process of the host. */
interface ProcessRow {
  readonly id: number;
  readonly parent: number;
  readonly group: number;
  /** Null where the system does not tell. */
  readonly session: number | null;
}

/** All processes of the host as they are now. */
export async function readProcessTable(platform: NodeJS.Platform): Promise<readonly ProcessRow[]> {
  if (platform === "linux") return readProc();
  const { stdout } = await promisify(execFile)("/bin/ps", ["-A", "-o", "pid=,ppid=,pgid=,stat="], { env: {} });
  return parsePs(stdout);
}

/** Reads the lines of `ps -o pid=,ppid=,pgid=,stat=`; zombies are left out. */
export function parsePs(output: string): readonly ProcessRow[] {
  return [...output.matchAll(/^[ \t]*(\d+)[ \t]+(\d+)[ \t]+(\d+)[ \t]+([^Z\s]\S*)[ \t]*$/gm)].map(
    ([, id, parent, group]) => ({
      id: Number(id),
      parent: Number(parent),
      group: Number(group),
      session: null,
    }),
  );
}

interface PreloadRunOptions {
  readonly platform: NodeJS.Platform;
  /** Program and arguments, with all that stands before them. */
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Real path. */
  readonly workingDirectory: string;
  /** Null: no input, and output to nowhere. */
  readonly streams: PreloadStreams | null;
}

/**
 * How a program is started apart from us: with its own process group and session, by which its family is recognised; on
 * Windows, which knows families by itself, without a window.
 */
export function apartOn(platform: NodeJS.Platform): { readonly detached: boolean; readonly windowsHide: boolean } {
  return { detached: platform !== "win32", windowsHide: true };
}

/** A program of a container, from its start until nothing is left of it. */
export class PreloadRun {
  /** Resolves when nothing is left of it and of what it started. */
  readonly ended: Promise<ProcessExit>;
  readonly #options: PreloadRunOptions;
  readonly #child: ChildProcess;

  constructor(options: PreloadRunOptions) {
    this.#options = options;
    const { command, environment, workingDirectory, platform, streams } = options;
    const [file = "", ...values] = command;
    const common = { cwd: workingDirectory, env: environment, ...apartOn(platform) };
    if (streams === null) {
      this.#child = spawn(file, values, { ...common, stdio: "ignore" });
    } else {
      const child = spawn(file, values, { ...common, stdio: "pipe" });
      this.#child = child;
      streams.follow(child);
    }
    this.ended = this.#follow();
  }

  /** Of the program alone: a guarded one starts no others. */
  async readMemory(): Promise<MemoryUse | null> {
    const { pid } = this.#child;
    return pid === undefined ? null : readMemory(pid, this.#options.platform);
  }

  /** SIGKILL to the program and all that it started. */
  kill(): Promise<void> {
    return this.#signalFamily("SIGKILL");
  }

  /** SIGTERM to the same. */
  terminate(): Promise<void> {
    return this.#signalFamily("SIGTERM");
  }

  /** Kills it for a reason that is written to its standard error. */
  async endFor(reason: string): Promise<void> {
    this.#options.streams?.note(`glovebox: ${reason}`);
    await this.kill();
  }

  /** To the program's own process; without effect on one that has ended. */
  signal(signal: ProcessSignal): void {
    this.#child.kill(signal);
  }

  async #signalFamily(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    const { pid, exitCode, signalCode } = this.#child;
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
    await signalFamily(pid, signal, this.#options.platform);
  }

  async #follow(): Promise<ProcessExit> {
    const exitCode = await new Promise<number>((resolve) => {
      this.#child.once("error", (error) => resolve(this.#notStarted(error)));
      this.#child.once("exit", (code, signal) => resolve(code ?? 128 + constants.signals[signal ?? "SIGKILL"]));
    });
    const { pid } = this.#child;
    if (pid !== undefined) await signalFamily(pid, "SIGKILL", this.#options.platform);
    return { exitCode };
  }

  /** As shells tell it: 127 for what is missing, 126 for what cannot be run. */
  #notStarted(error: NodeJS.ErrnoException): number {
    const [file] = this.#options.command;
    const isMissing = error.code === "ENOENT";
    this.#options.streams?.note(
      `glovebox: ${file} ${isMissing ? "was not found" : `cannot be started (${error.code})`}`,
    );
    return isMissing ? 127 : 126;
  }
}

function readStatus(folder: string): MemoryUse | null {
  try {
    return parseStatus(readFileSync(`${folder}/status`, "latin1"));
  } catch {
    // It has ended meanwhile.
    return null;
  }
}

function kibibytesOf(found: RegExpExecArray | null): number | null {
  return found?.[1] === undefined ? null : Number(found[1]) * kibibyte;
}

function send(id: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(id, signal);
  } catch {
    // It has ended, or belongs to another user, which programs cannot achieve.
    return false;
  }
}

function runTaskkill(values: readonly string[]): Promise<void> {
  return new Promise((resolve) => {
    // Windows looks for a program in the folder first: one that no project can put a file into. It fails when there is nothing to end.
    execFile("taskkill", [...values], { cwd: "/", windowsHide: true }, () => resolve());
  });
}

/** Those that have ended are left out. */
function readProc(): readonly ProcessRow[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => readProcessStat(Number(name)))
    .filter((stat) => stat !== null)
    .filter(({ hasEnded }) => !hasEnded)
    .map(({ processId, parentId, groupId, sessionId }) => ({
      id: processId,
      parent: parentId,
      group: groupId,
      session: sessionId,
    }));
}
