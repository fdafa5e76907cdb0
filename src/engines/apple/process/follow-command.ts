import type { ChildProcessWithoutNullStreams } from "node:child_process";
import { Writable } from "node:stream";
import { RingOutput } from "../../../base/streams/ring-output.ts";
import { RuntimeFailureFilter } from "../../docker-api/exec/runtime-failure.ts";
import type { OutputChunk, OutputStream, ProcessExit } from "../../engine.ts";
import type { StartedProgram } from "../../inside/running-container.ts";
import { OutputQueue } from "../../output-queue.ts";
import { failureWords } from "../command/command-failure.ts";
import { afterExitMs, closeStreams } from "../command/container-command.ts";
import { CommandFlow } from "./command-flow.ts";

/** How the command ended. */
export interface CommandEnd {
  /** Null when it died by a signal. */
  readonly exitCode: number | null;
  /** What it said of its own failure, or a program in its place; null when nothing was said. */
  readonly words: string | null;
}

/** How its program ended. */
export interface ProgramEnd extends ProcessExit {
  /** Written to standard error in place of the command's message, when the program was never started. */
  readonly failure?: string | undefined;
}

export interface FollowOptions {
  /** What the command's end says about its program. @throws when this cannot be known */
  readonly judge: (end: CommandEnd) => Promise<ProgramEnd>;
  /** Resolves when the program is being killed. */
  readonly killed?: Promise<void> | undefined;
}

/** How the command's message begins when it could not start a program. */
const openings = {
  stream: "stderr",
  prefixes: ["Error: failed to ", "Error: get failed: ", "Error: container ", "Error: internalError: "],
  exitCodes: [1],
} as const;

/** Longer than the command's words. */
const tailBytes = 16_384;

/** A program over the streams of the command that runs it. */
export function followCommand(child: ChildProcessWithoutNullStreams, { judge, killed }: FollowOptions): StartedProgram {
  const tail = new RingOutput(tailBytes);
  const flow = new CommandFlow(child);
  const queue = new OutputQueue(() => flow.open());
  const filter = new RuntimeFailureFilter(openings);
  const deliver = (chunks: readonly OutputChunk[]): void => {
    for (const chunk of chunks) if (!queue.isFull || flow.keeps(chunk.bytes.length)) queue.push(chunk);
  };
  const take = (stream: OutputStream, bytes: Buffer): void => {
    if (stream === "stderr") tail.append(bytes);
    deliver(filter.pass([{ stream, bytes }], deliver));
    if (queue.isFull) flow.hold(bytes.length);
  };
  child.stdout.on("data", (bytes: Buffer) => take("stdout", bytes));
  child.stderr.on("data", (bytes: Buffer) => take("stderr", bytes));
  void killed?.then(() => flow.hasten());

  const ended = Promise.withResolvers<number | null>();
  child.once("exit", () => {
    flow.letGo();
    // Should it have left a process behind that holds them.
    setTimeout(() => closeStreams(child), afterExitMs).unref();
  });
  child.once("close", (exitCode: number | null) => ended.resolve(exitCode));
  const exit = conclude();
  exit.catch(() => {
    // Whoever awaits `exit` is told; if nobody does, that must not end the server.
  });
  return { stdin: inputOf(child), output: queue, exit };

  async function conclude(): Promise<ProcessExit> {
    const exitCode = await ended.promise;
    try {
      const words = exitCode === 0 ? null : failureWords(tail.text());
      const end = await judge({ exitCode, words });
      deliver(filter.settle(end.failure !== undefined));
      if (end.failure !== undefined) queue.push({ stream: "stderr", bytes: Buffer.from(`${end.failure}\n`) });
      return { exitCode: end.exitCode };
    } catch (error) {
      deliver(filter.settle(false));
      throw error;
    } finally {
      queue.end();
    }
  }
}

/** Errors are swallowed, because a program may end without reading all its input. */
function inputOf({ stdin }: ChildProcessWithoutNullStreams): Writable {
  return new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      if (stdin.writable) stdin.write(chunk, () => done());
      else done();
    },
    final: (done) => {
      stdin.end();
      done();
    },
    destroy: (_error, done) => {
      stdin.end();
      done(null);
    },
  });
}
