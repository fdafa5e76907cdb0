import { settlesWithin, untilCancelled } from "../../base/abort.ts";
import type { Process, CallOptions, ExecSpec } from "../../engines/engine.ts";
import { takeOpeningLine } from "../../engines/opening-line.ts";
import type { ImportedModule } from "../../languages/imported-modules.ts";
import { runtimeOf, type RuntimeName } from "../../languages/language-table.ts";
import { createId } from "../../base/id.ts";
import { runsInterpretersOnly } from "../../engines/capabilities.ts";
import { temporaryFolder } from "../../policy/scratch.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { runnerCommand, readRunner } from "./runner-job.ts";

/** What a runner of Python imports while it waits for its job, and what it may know of the program then. */
export interface ImportsAhead {
  readonly modules: readonly ImportedModule[];
  /** Exactly the variables that the program will have. */
  readonly environment: Readonly<Record<string, string>>;
  /** Where the program will start. */
  readonly workingDirectory: string;
  /** Folders that programs can write to: nothing that lies there is imported. */
  readonly writableFolders: readonly string[];
}

/** How long the imports may take. */
const importMs = 10_000;
/** How long a runner that has made them may take to answer: it reads one byte and looks at the folders of its path. */
const answerMs = 2_000;
/** What the runner writes when it has made them, and when it is about to take the job. */
const [imported, taken] = [1, 2];

/**
 * A runner that imports packages while it waits: one interpreter, one program, as without them. What they do in it is as
 * untrusted as the program: its answers are waited for with deadlines, and one that does not answer is ended.
 */
class ImportingRunner {
  readonly process: Process;
  readonly ahead: ImportsAhead;
  /** Whether it has made the imports, and waits: settles within a bound. */
  readonly isReady: Promise<boolean>;
  readonly #taken: Promise<number | null>;

  /** Takes over a runner that has not been told anything yet. */
  constructor(process: Process, ahead: ImportsAhead) {
    const first = takeOpeningLine(process.output);
    const second = takeOpeningLine(first.output);
    this.ahead = ahead;
    this.isReady = settlesWithin(first.number, importMs).then(
      async (isTold) => isTold && (await first.number) === imported,
    );
    this.#taken = second.number;
    this.process = {
      stdin: process.stdin,
      output: second.output,
      exit: process.exit,
      kill: (signal) => process.kill(signal),
      ...(process.isGone === undefined ? {} : { isGone: () => process.isGone?.() ?? Promise.resolve(true) }),
    };
    process.stdin.write(headerOf(ahead));
  }

  /** Whether it takes the job next; otherwise it must be ended. Asked once. @throws CANCELLED */
  async claim(signal: AbortSignal | undefined): Promise<boolean> {
    if (!(await untilCancelled(this.isReady, signal))) return false;
    // It may have been ended meanwhile.
    if (!this.process.stdin.writable) return false;
    this.process.stdin.write("\n");
    if (!(await untilCancelled(settlesWithin(this.#taken, answerMs), signal))) return false;
    return (await this.#taken) === taken;
  }
}

/** How long a runner without a job may take to end. */
const dismissMs = 5_000;
/** Runners of one sandbox whose imports may fail before no more imports are made. */
const maxFailures = 3;

/** What a runner is started for: Node and Bun get the name of the main file when they start. */
export interface RunnerKind {
  readonly toolchain: RuntimeName;
  readonly mainFile: string;
}

interface WaitingRunnerParts {
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
interface NextProgram {
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

function headerOf({ modules, environment, workingDirectory, writableFolders }: ImportsAhead): Buffer {
  const header = Buffer.from(
    JSON.stringify({
      version: 1,
      imports: modules.map(({ module, names }) => [module, names]),
      environment,
      working_directory: workingDirectory,
      writable: writableFolders,
      untrusted: [],
    }),
  );
  return Buffer.concat([Buffer.from(`${header.length}\n`), header]);
}
