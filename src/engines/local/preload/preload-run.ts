import { spawn, type ChildProcess } from "node:child_process";
import { constants } from "node:os";
import type { ProcessExit, ProcessSignal } from "../../engine.ts";
import { signalFamily } from "./processes/end-family.ts";
import { readMemory, type MemoryUse } from "./processes/memory-use.ts";
import type { PreloadStreams } from "./preload-streams.ts";

export interface PreloadRunOptions {
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
