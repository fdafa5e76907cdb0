import { type RuntimeName, runtimeOf } from "../../languages/language-table.ts";
import { settlesWithin } from "../../base/abort.ts";
import { createId } from "../../base/id.ts";
import { runsInterpretersOnly } from "../../engines/capabilities.ts";
import type { CallOptions, ExecSpec, Process } from "../../engines/engine.ts";
import { temporaryFolder } from "../../policy/scratch.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { ImportingRunner, type ImportsAhead } from "./importing-runner.ts";
import { runnerCommand } from "./runner-command.ts";
import { readRunner } from "./read-runner.ts";

/** How long a runner without a job may take to end. */
const dismissMs = 5_000;
/** Runners of one sandbox whose imports may fail before no more imports are made. */
const maxFailures = 3;

/** What a runner is started for: Node and Bun get the name of the main file when they start. */
export interface RunnerKind {
  readonly toolchain: RuntimeName;
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

type Variables = Readonly<Record<string, string>>;

/** A program that is about to be given to a runner. */
export interface NextProgram {
  readonly kind: RunnerKind;
  /** All its variables. */
  readonly environment: Variables;
}

interface Waiting extends RunnerKind {
  readonly started: Promise<Process>;
  /** Undefined: it imports nothing. */
  readonly importing?: Promise<ImportingRunner> | undefined;
  /** Those that its imports see. */
  readonly environment?: Variables | undefined;
}

/**
 * Starts runners in one sandbox, and keeps at most one that waits for its job already: an interpreter that has started,
 * knows nothing of the program yet and is used once. One of Python may import packages meanwhile; where that fails
 * another starts as if there had been none.
 */
export class WaitingRunner {
  readonly #parts: WaitingRunnerParts;
  #waiting: Waiting | null = null;
  #failures = 0;
  /** The end of a runner whose imports have failed, and of everything they have started. */
  #ending: Promise<unknown> | null = null;

  constructor(parts: WaitingRunnerParts) {
    this.#parts = parts;
  }

  /**
   * Ends a runner that makes imports unless this program can have it; null: none can. Resolves to whether all is as it was:
   * false after one that came to nothing, whose imports may have cost memory.
   * @throws CANCELLED
   */
  async settle(program: NextProgram | null, { signal }: CallOptions): Promise<boolean> {
    const waiting = this.#waiting;
    if (waiting?.importing === undefined) return !(await this.#hasFailed());
    const isMeant = program !== null && isSameKind(waiting, program.kind) && hasVariables(waiting, program.environment);
    try {
      const isTaken = isMeant && (await (await waiting.importing).claim(signal));
      if (isTaken && this.#waiting === waiting) return true;
    } catch (error) {
      if (signal?.aborted === true) {
        await this.#end(waiting, true);
        throw error;
      }
      // Never started.
    }
    await this.#end(waiting, isMeant);
    await this.#hasFailed();
    return false;
  }

  /** The waiting runner if it is of that kind, else a new one; no other is left. */
  async take(kind: RunnerKind, options: CallOptions): Promise<Process> {
    const waiting = this.#waiting;
    if (waiting === null || !isSameKind(waiting, kind)) {
      await this.dismiss();
      return this.#start(kind, options);
    }
    this.#waiting = null;
    const process = await waiting.started;
    // A background process of the same user may have stopped it while it waited, and have ended since.
    process.resume?.();
    return process;
  }

  /**
   * Starts the next runner in the background; only when nothing of the last program is left. One that makes imports must be
   * settled before it is taken.
   */
  prepare(kind: RunnerKind, ahead?: ImportsAhead): void {
    if (this.#parts.isOver() || this.#waiting !== null) return;
    const plain = this.#start(kind, {});
    const importing =
      ahead === undefined || this.#failures >= maxFailures
        ? undefined
        : plain.then((process) => new ImportingRunner(process, ahead));
    const started = importing?.then(({ process }) => process) ?? plain;
    const waiting = { ...kind, started, importing, environment: ahead?.environment };
    this.#waiting = waiting;
    const forget = (): void => {
      if (this.#waiting !== waiting) return;
      this.#waiting = null;
      if (importing === undefined) return;
      this.#failures += 1;
      this.#ending = this.#end(waiting, true);
    };
    // It may also end by itself: killed for want of memory, or with its sandbox.
    void started.then((process) => process.exit).then(forget, forget);
    void importing
      ?.then(({ isReady }) => isReady)
      .then((isReady) => {
        if (!isReady) forget();
      })
      .catch(forget);
  }

  /** Ends the waiting runner, and waits until it has ended. */
  async dismiss(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = null;
    await this.#hasFailed();
    // One that is busy with its imports does not notice.
    if (waiting !== null) await this.#end(waiting, waiting.importing !== undefined);
  }

  /** Whether one that was not asked has come to nothing since this was asked last; nothing of it is left then. */
  async #hasFailed(): Promise<boolean> {
    const ending = this.#ending;
    this.#ending = null;
    await ending;
    return ending !== null;
  }

  /** Ends a runner that has no job: `isStuck` when it has not answered. */
  async #end(waiting: Waiting, isStuck: boolean): Promise<void> {
    if (this.#waiting === waiting) this.#waiting = null;
    try {
      const process = await waiting.started;
      process.stdin.end();
      const hasEnded = !isStuck && (await settlesWithin(process.exit, dismissMs));
      // Another process of the sandbox can have stopped it; and imports start what they like.
      if (!hasEnded || waiting.importing !== undefined) await this.#parts.endByForce(process);
    } catch {
      // Never started, or ended with its sandbox.
    }
  }

  async #start(kind: RunnerKind, options: CallOptions): Promise<Process> {
    return this.#parts.sandbox.exec({ ...(await this.#spec(kind)) }, options);
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
        ...runtimeOf(toolchain).environment,
      },
      // A guard lets a program start only in its own folders.
      workingDirectory: withoutShell ? folder : "/",
    };
  }
}

function hasVariables({ environment }: Waiting, wanted: Variables): boolean {
  return JSON.stringify(environment) === JSON.stringify(wanted);
}

function isSameKind(one: RunnerKind, other: RunnerKind): boolean {
  return one.toolchain === other.toolchain && one.mainFile === other.mainFile;
}
