import { spawn, type ChildProcess } from "node:child_process";
import { constants } from "node:os";
import { signalFamily } from "./processes/end-family.ts";
import type { PreloadProcess } from "./preload-process.ts";

export interface PreloadRunOptions {
  readonly platform: NodeJS.Platform;
  /** Program and arguments, with all that stands before them. */
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Real path. */
  readonly workingDirectory: string;
  /** Null: nobody wants its streams. */
  readonly process: PreloadProcess | null;
}

/** A program of a container, from its start until nothing is left of it. */
export class PreloadRun {
  /** Resolves with its exit code when neither it nor anything that it started runs. */
  readonly ended: Promise<number>;
  readonly #options: PreloadRunOptions;
  readonly #child: ChildProcess;

  constructor(options: PreloadRunOptions) {
    this.#options = options;
    const { command, environment, workingDirectory, platform, process } = options;
    const [file = "", ...values] = command;
    const common = {
      cwd: workingDirectory,
      env: environment,
      // A process group and session of its own, by which its family is known.
      detached: platform !== "win32",
      windowsHide: true,
    };
    if (process === null) {
      this.#child = spawn(file, values, { ...common, stdio: "ignore" });
    } else {
      const child = spawn(file, values, { ...common, stdio: "pipe" });
      this.#child = child;
      process.follow(child, (signal) => this.signal(signal));
    }
    this.ended = this.#follow();
  }

  /** Number of the program's process; undefined when it could not be started. */
  get processId(): number | undefined {
    return this.#child.pid;
  }

  /** Sends it to the program and all that it started. */
  async signal(signal: "SIGTERM" | "SIGKILL"): Promise<void> {
    const { pid, exitCode, signalCode } = this.#child;
    if (pid === undefined || exitCode !== null || signalCode !== null) return;
    await signalFamily(pid, signal, this.#options.platform);
  }

  /** Ends it for a reason that its standard error tells. */
  async endFor(reason: string): Promise<void> {
    this.#options.process?.note(`glovebox: ${reason}`);
    await this.signal("SIGKILL");
  }

  async #follow(): Promise<number> {
    const exitCode = await new Promise<number>((resolve) => {
      this.#child.once("error", (error) => resolve(this.#notStarted(error)));
      this.#child.once("exit", (code, signal) => resolve(code ?? 128 + constants.signals[signal ?? "SIGKILL"]));
    });
    const { pid } = this.#child;
    if (pid !== undefined) await signalFamily(pid, "SIGKILL", this.#options.platform);
    this.#options.process?.ended(exitCode);
    return exitCode;
  }

  /** As shells tell it: 127 for what is missing, 126 for what cannot be run. */
  #notStarted(error: NodeJS.ErrnoException): number {
    const [file] = this.#options.command;
    const isMissing = error.code === "ENOENT";
    this.#options.process?.note(
      `glovebox: ${file} ${isMissing ? "was not found" : `cannot be started (${error.code})`}`,
    );
    return isMissing ? 127 : 126;
  }
}
