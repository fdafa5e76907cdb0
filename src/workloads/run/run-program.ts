import { settlesWithin } from "../../base/abort.ts";
import { feedStream } from "../../base/streams/feed-stream.ts";
import { BoundedOutput } from "../../base/streams/bounded-output.ts";
import type { OutputChunk, Process } from "../../engines/engine.ts";
import { untilEnded, type WatchedEnd } from "./until-ended.ts";

/** A started program and how it is to be watched. */
export interface RunProgram {
  readonly process: Process;
  /** What it writes, as it may be shown. */
  readonly output: AsyncIterable<OutputChunk>;
  /** What goes to the runner and then to the program; writing stops when the program ends. */
  readonly input: AsyncIterable<Uint8Array>;
  readonly timeoutMs: number;
  /** Cap of each stream (SPEC OU3). */
  readonly maxOutputBytes: number;
  /** Awaited before more output is read, so that a slow listener slows the program and not the memory. */
  readonly onOutput: (chunk: OutputChunk) => void | Promise<void>;
  readonly signal?: AbortSignal | undefined;
  /** Ends the program and all that it started. */
  readonly end: () => Promise<void>;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicMs: () => number;
}

/** What is known of a program that has ended. */
export interface ProgramEnd extends WatchedEnd {
  readonly stdout: BoundedOutput;
  readonly stderr: BoundedOutput;
  readonly durationMs: number;
}

/** How long the next output of an ended program may still take to arrive, while nobody is held up by a listener. */
const drainMs = 2_000;

/** Watches a program to its end: by itself, by its time limit, by its caller, or by the loss of its sandbox. */
export async function runProgram(run: RunProgram): Promise<ProgramEnd> {
  const startedMs = run.monotonicMs();
  const stdout = new BoundedOutput(run.maxOutputBytes);
  const stderr = new BoundedOutput(run.maxOutputBytes);
  let listening = false;
  const onOutput = async (chunk: OutputChunk): Promise<void> => {
    listening = true;
    await run.onOutput(chunk);
    listening = false;
  };
  const drained = drain(run.output, { stdout, stderr }, onOutput);
  // Whether it reads all of it is the program's own affair.
  const fed = feedStream(run.process.stdin, run.input, run.process.exit);
  const end = await untilEnded({ ...run, streams: [drained, fed] });
  const durationMs = Math.round(run.monotonicMs() - startedMs);
  while (!(await settlesWithin(drained, drainMs)) && listening && run.signal?.aborted !== true);
  return { ...end, stdout, stderr, durationMs };
}

async function drain(
  output: AsyncIterable<OutputChunk>,
  kept: Readonly<Record<OutputChunk["stream"], BoundedOutput>>,
  onOutput: (chunk: OutputChunk) => Promise<void>,
): Promise<void> {
  for await (const chunk of output) {
    kept[chunk.stream].append(chunk.bytes);
    await onOutput(chunk);
  }
}
