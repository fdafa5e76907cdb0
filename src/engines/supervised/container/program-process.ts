import { Writable } from "node:stream";
import type { OutputChunk, Process, ProcessExit, ProcessSignal, TerminalProcess } from "../../engine.ts";
import type { Program, ProgramExit } from "../channel/program.ts";
import type { StartFailure } from "./start-failure.ts";

/** Linux's numbers: those of the host may differ. */
const signalNumbers: Readonly<Record<ProcessSignal | "SIGCONT" | "SIGKILL", number>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGKILL: 9,
  SIGUSR1: 10,
  SIGUSR2: 12,
  SIGTERM: 15,
  SIGCONT: 18,
};

/** The program as a process of its container. */
export function programProcess(program: Program): TerminalProcess {
  drainAfterExit(program);
  const exit = program.exit.then((end) => ({ exitCode: exitCodeOf(end) }));
  exit.catch(() => {
    // Whoever awaits `exit` is told.
  });
  return {
    stdin: program.stdin,
    output: program.output,
    exit,
    kill: async (signal) => {
      if (signal === "SIGTERM") program.signal(signalNumbers.SIGTERM, "tree");
      else await program.endTree(0);
    },
    isGone: async () => program.isGone || (program.hasExited && (await program.left()).count === 0),
    signal: async (signal) => program.signal(signalNumbers[signal], "program"),
    resume: () => program.signal(signalNumbers.SIGCONT, "tree"),
    resize: (size) => program.resize(size),
  };
}

/** Death by signal N is 128 + N. */
export function exitCodeOf({ code, signal }: ProgramExit): number {
  return signal > 0 ? 128 + signal : code;
}

/** The process of a program that was never started. */
export function failedProcess({ exitCode, message }: StartFailure): TerminalProcess {
  return {
    stdin: new Writable({ write: (_chunk, _encoding, done) => done() }),
    output: oneLine(message),
    exit: Promise.resolve({ exitCode }),
    kill: () => Promise.resolve(),
    isGone: () => Promise.resolve(true),
    signal: () => Promise.resolve(),
    resize: () => undefined,
  };
}

async function* oneLine(text: string): AsyncGenerator<OutputChunk, undefined> {
  yield { stream: "stderr", bytes: Buffer.from(`${text}\n`) };
}

/** A process that is there before its program: what is done to it waits. */
export function laterProcess(started: Promise<Process>): Process {
  const exit = started.then((process): Promise<ProcessExit> => process.exit);
  exit.catch(() => {
    // Whoever awaits `exit` is told.
  });
  const withIt = (use: (process: Process) => void, otherwise: () => void): void => {
    started.then(use, otherwise);
  };
  return {
    stdin: new Writable({
      write: (chunk: Buffer, _encoding, done) =>
        withIt(
          ({ stdin }) => stdin.write(chunk, () => done()),
          () => done(),
        ),
      final: (done) =>
        withIt(
          ({ stdin }) => stdin.end(() => done()),
          () => done(),
        ),
    }),
    output: laterOutput(started),
    exit,
    kill: async (signal) => (await started).kill(signal),
    isGone: async () => (await started).isGone?.() ?? true,
    signal: async (signal) => (await started).signal?.(signal),
  };
}

async function* laterOutput(started: Promise<Process>): AsyncGenerator<OutputChunk, undefined> {
  let process: Process;
  try {
    process = await started;
  } catch {
    // `exit` tells it.
    return;
  }
  yield* process.output;
}

/** How often the output of a program that has ended is looked at, in milliseconds. */
const lookMs = 250;
/** With nothing new at so many looks, nothing more of the program is in its pipes. */
const maxSilentLooks = 2;
/** A child that was left behind may write on; after so many looks all of it is the child's. */
const maxLooks = 10;
/** More than any pipe has: what comes after it is a child's. */
const maxBytes = 4_194_304;

/**
 * Ends the output of a program soon after its own end, although what it has started may still hold its pipes: a daemon would
 * otherwise hold up whoever reads its parent's output. What the daemon writes from then on is thrown away.
 */
function drainAfterExit(program: Program): void {
  const { output } = program;
  const drain = (): void => {
    // What is left in the pipes is taken whether or not anybody reads.
    output.letGo();
    const atExit = output.receivedBytes;
    let [seen, looks, silentLooks] = [atExit, 0, 0];
    const timer = setInterval(() => {
      // After a pause of the whole server the timer fires before data that arrived meanwhile.
      setImmediate(() => {
        const { receivedBytes } = output;
        looks += 1;
        silentLooks = receivedBytes === seen ? silentLooks + 1 : 0;
        seen = receivedBytes;
        if (silentLooks >= maxSilentLooks || looks >= maxLooks || seen - atExit > maxBytes) output.end();
      });
    }, lookMs);
    void output.whenEnded.then(() => clearInterval(timer));
  };
  program.exit.then(drain, () => output.end());
}
