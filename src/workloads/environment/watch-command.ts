import { settlesWithin } from "../../base/abort.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { OutputChunk, Process } from "../../engines/engine.ts";
import type { RingOutput } from "../../base/ring-output.ts";
import type { Interruption } from "../../sandbox/outcome.ts";
import { followOutput, keptBytes } from "../background/follow-output.ts";

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
export interface CommandEnd {
  readonly interruption: Interruption;
  readonly exitCode: number | null;
  readonly stdout: RingOutput;
  readonly stderr: RingOutput;
  readonly durationMs: number;
}

/** How long the next output of an ended command may still take: what it left behind may hold its streams open. */
const drainMs = 1_000;

/** Watches a command to its end: by itself, by its time limit, by its caller, or by the loss of its container. */
export async function watchCommand(watch: CommandWatch): Promise<CommandEnd> {
  const { process, signal, monotonicMs } = watch;
  const startedMs = monotonicMs();
  process.stdin.end();
  const { stdout, stderr, ended } = followOutput(process, keptBytes.command, watch.onOutput);
  const { promise: broken, reject: breakOff } = Promise.withResolvers<never>();
  ended.catch(breakOff);
  broken.catch(() => {
    // Also seen by the race below, unless the command's end came first.
  });
  const { promise: interrupted, resolve: interrupt } = Promise.withResolvers<"timeout" | "cancel">();
  const timer = setTimeout(interrupt, watch.timeoutMs, "timeout");
  const onAbort = (): void => interrupt("cancel");
  if (signal?.aborted) onAbort();
  else signal?.addEventListener("abort", onAbort, { once: true });

  let interruption: Interruption = null;
  let exitCode: number | null = null;
  try {
    const first = await Promise.race([process.exit, interrupted, broken]);
    if (typeof first === "string") {
      interruption = first;
      await watch.end();
      exitCode = (await process.exit).exitCode;
    } else {
      exitCode = first.exitCode;
    }
  } catch (error) {
    if (!(error instanceof GloveboxError) || error.errorType !== "SANDBOX_LOST") throw error;
    interruption ??= "lost";
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  }
  const durationMs = Math.round(monotonicMs() - startedMs);
  await settlesWithin(ended, drainMs);
  return { interruption, exitCode, stdout, stderr, durationMs };
}
