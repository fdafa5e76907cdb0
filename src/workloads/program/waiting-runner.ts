import { settlesWithin } from "../../base/abort.ts";
import { createId } from "../../base/id.ts";
import { runsInterpretersOnly } from "../../engines/capabilities.ts";
import type { CallOptions, ExecSpec, Process } from "../../engines/engine.ts";
import { temporaryFolder } from "../../policy/scratch.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { runnerCommand, toolchains, type Toolchain } from "./languages.ts";
import { readRunner } from "./read-runner.ts";

/** How long a runner without a job may take to end. */
const dismissMs = 5_000;

/** What a runner is started for: Node and Bun are told the name of the main file when they start. */
export interface RunnerKind {
  readonly toolchain: Toolchain;
  readonly mainFile: string;
}

export interface WaitingRunnerParts {
  readonly sandbox: Pick<Sandbox, "capabilities" | "exec" | "folderOf">;
  /** Folder of the sandbox for the files of jobs. */
  readonly folder: string;
  /** Whether no more programs will run in the sandbox. */
  readonly isOver: () => boolean;
  /** Ends a runner that does not end by itself. */
  readonly endByForce: (process: Process) => Promise<unknown>;
}

interface Waiting extends RunnerKind {
  readonly started: Promise<Process>;
}

/**
 * Starts runners in one sandbox, and keeps at most one that waits for its job already: an interpreter that has started,
 * knows nothing of the program yet and is used once.
 */
export class WaitingRunner {
  readonly #parts: WaitingRunnerParts;
  #waiting: Waiting | null = null;

  constructor(parts: WaitingRunnerParts) {
    this.#parts = parts;
  }

  /** The runner that waits, when it is of that kind, else a fresh one; no other is left. */
  async take(kind: RunnerKind, options: CallOptions): Promise<Process> {
    const waiting = this.#waiting;
    if (waiting === null || waiting.toolchain !== kind.toolchain || waiting.mainFile !== kind.mainFile) {
      await this.dismiss();
      return this.#start(kind, options);
    }
    this.#waiting = null;
    return waiting.started;
  }

  /** Starts the next runner in the background; only when nothing of the last program is left. */
  prepare(kind: RunnerKind): void {
    if (this.#parts.isOver() || this.#waiting !== null) return;
    const started = this.#start(kind, {});
    const waiting = { ...kind, started };
    this.#waiting = waiting;
    const forget = (): void => {
      if (this.#waiting === waiting) this.#waiting = null;
    };
    // It may also end by itself: killed for want of memory, or with its sandbox.
    void started.then((process) => process.exit).then(forget, forget);
  }

  /** Lets the runner that waits end, and waits until it has. */
  async dismiss(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = null;
    if (waiting === null) return;
    try {
      const process = await waiting.started;
      process.stdin.end();
      // Another process of the sandbox can have stopped it.
      if (!(await settlesWithin(process.exit, dismissMs))) await this.#parts.endByForce(process);
    } catch {
      // Never started, or gone with its sandbox.
    }
  }

  async #start(kind: RunnerKind, options: CallOptions): Promise<Process> {
    return this.#parts.sandbox.exec({ ...(await this.#spec(kind)), concurrent: true }, options);
  }

  /**
   * The runner's folder has a name that no earlier program could know. It starts in a folder and with a home where none
   * could leave settings for its interpreter; the job brings the program's own.
   */
  async #spec({ toolchain, mainFile }: RunnerKind): Promise<ExecSpec> {
    const { sandbox, folder } = this.#parts;
    const withoutShell = runsInterpretersOnly(sandbox.capabilities);
    return {
      command: runnerCommand({
        toolchain,
        mainFile,
        source: await readRunner(toolchain),
        folder: sandbox.folderOf(folder),
        runnerFolder: `${temporaryFolder}/.glovebox-${createId("run")}`,
        withoutShell,
      }),
      environment: {
        LANG: "C.UTF-8",
        HOME: withoutShell ? sandbox.folderOf(temporaryFolder) : "/",
        ...toolchains[toolchain].environment,
      },
      // A guard lets a program start in its own folders only.
      workingDirectory: withoutShell ? folder : "/",
    };
  }
}
