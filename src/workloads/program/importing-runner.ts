import { settlesWithin, untilCancelled } from "../../base/abort.ts";
import type { Process } from "../../engines/engine.ts";
import { takeOpeningLine } from "../../engines/opening-line.ts";
import type { ImportedModule } from "../../languages/imported-modules.ts";

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
export class ImportingRunner {
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
