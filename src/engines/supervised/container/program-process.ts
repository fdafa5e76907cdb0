import { Writable } from "node:stream";
import type { OutputChunk, Process, ProcessExit, ProcessSignal, TerminalProcess } from "../../engine.ts";
import type { Program, ProgramExit } from "../channel/program.ts";
import { drainAfterExit } from "./drain-after-exit.ts";
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
