import { GloveboxError } from "../../../errors/glovebox-error.ts";
import type { StreamEnd } from "../channel/stream.ts";
import { argumentsTooLong, type Program, type ProgramExit, type ProgramRequest } from "../channel/program.ts";
import { errnoName, errnoText } from "../frames/linux-errno.ts";
import { Writable } from "node:stream";
import type { OutputChunk, Process, ProcessExit, ProcessSignal, TerminalProcess } from "../../engine.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { settlesWithin, untilCancelled } from "../../../base/abort.ts";
import type { SupervisorChannel } from "../channel/channel.ts";

/** A program that was never started: what a shell would write, and its exit code. */
interface StartFailure {
  /** 127: there is no such program; 126: it cannot be run. */
  readonly exitCode: 126 | 127;
  readonly message: string;
}

/**
 * Why a program was not started, where that is the program's or its container's affair.
 * @throws INVALID_REQUEST for more arguments than the kernel takes, CAPACITY when too much runs, SANDBOX_LOST for what must
 * not fail
 */
export function startFailure(end: StreamEnd, program: string, folder: string): StartFailure {
  const { stage, errno } = end;
  const reason = errnoText(errno);
  if (stage === "PROGRAM") {
    if (errnoName(errno) === "ENOENT") return { exitCode: 127, message: `${program}: not found` };
    if (errnoName(errno) === "E2BIG") throw argumentsTooLong(program);
    return { exitCode: 126, message: `${program}: ${reason}` };
  }
  if (stage === "FOLDER") {
    return { exitCode: 126, message: `cannot enter the working directory ${folder}: ${reason}` };
  }
  if (stage === "FORK" || stage === "PIPES" || stage === "TERMINAL") {
    return { exitCode: 126, message: `${program}: cannot be started: ${reason}` };
  }
  if (stage === "STREAMS") {
    throw new GloveboxError("CAPACITY", "Too many programs, connections and file operations are open in the sandbox.", {
      suggestion: "End some of them, or wait until they have ended; then retry.",
    });
  }
  throw new GloveboxError("SANDBOX_LOST", "A program could not be started in the sandbox as it must be.", {
    context: { reason: end.reason, stage, errno },
  });
}

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

/** How often the output of a program that has ended is looked at, in milliseconds. */
const lookMs = 250;
/** With nothing new at so many looks, nothing more of the program is in its pipes. */
const maxSilentLooks = 2;
/** A child that was left behind may write on; after so many looks all of it is the child's. */
const maxLooks = 10;
/** More than any pipe has: what comes after it is a child's. */
const maxBytes = 4_194_304;

/** How long a supervisor may take to end what was given up. */
const endMs = 5_000;

/**
 * Waits between tries while no process is left. A program that ends takes those that it has started with it a moment later than it
 * is reported.
 */
const fullWaitsMs = [10, 20, 40, 80, 160];

/** Starts a program; given up, it leaves nothing behind. @throws CAPACITY, SANDBOX_LOST, CANCELLED */
export async function beginProgram(
  channel: SupervisorChannel,
  request: ProgramRequest,
  signal: AbortSignal | undefined,
): Promise<TerminalProcess> {
  for (let tries = 0; ; tries += 1) {
    const program = await channel.spawn(request);
    try {
      const start = await untilCancelled(program.started, signal);
      if (start.isStarted) return programProcess(program);
      const waitMs = isFull(start.end) ? fullWaitsMs[tries] : undefined;
      if (waitMs === undefined) {
        return failedProcess(startFailure(start.end, request.command[0] ?? "", request.folder));
      }
      await untilCancelled(sleep(waitMs), signal);
    } catch (error) {
      // Perhaps its sandbox was lost, and says so by its other calls.
      if (signal?.aborted === true) await settlesWithin(program.endTree(0), endMs);
      throw error;
    }
  }
}

function isFull({ stage, errno }: StreamEnd): boolean {
  return stage === "FORK" && errnoName(errno) === "EAGAIN";
}

async function* oneLine(text: string): AsyncGenerator<OutputChunk, undefined> {
  yield { stream: "stderr", bytes: Buffer.from(`${text}\n`) };
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
