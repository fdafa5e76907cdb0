import { settlesWithin } from "../../base/abort.ts";
import type { OutputChunk, Process } from "../../engines/engine.ts";
import type { RingOutput } from "../../base/streams/ring-output.ts";
import { followOutput, keptBytes } from "../run/follow-output.ts";
import { untilEnded, type WatchedEnd } from "../run/until-ended.ts";

export interface CommandWatch {
  readonly process: Process;
  readonly timeoutMs: number;
  /** Awaited before more output is read, so that a slow listener slows the command and not the memory. */
  readonly onOutput: (chunk: OutputChunk) => void | Promise<void>;
  readonly signal?: AbortSignal | undefined;
  /** Ends the command and all that it started. */
  readonly end: () => Promise<void>;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicMs: () => number;
}

/** What is known of a command that has ended. */
export interface CommandEnd extends WatchedEnd {
  readonly stdout: RingOutput;
  readonly stderr: RingOutput;
  readonly durationMs: number;
}

/** How long the next output of an ended command may still take: what it left behind may hold its streams open. */
const drainMs = 1_000;

/** Watches a command to its end: by itself, by its time limit, by its caller, or by the loss of its container. */
export async function watchCommand(watch: CommandWatch): Promise<CommandEnd> {
  const { process, monotonicMs } = watch;
  const startedMs = monotonicMs();
  process.stdin.end();
  const { stdout, stderr, ended } = followOutput(process, keptBytes.command, watch.onOutput);
  const end = await untilEnded({ ...watch, streams: [ended] });
  const durationMs = Math.round(monotonicMs() - startedMs);
  await settlesWithin(ended, drainMs);
  return { ...end, stdout, stderr, durationMs };
}
