import { settlesWithin } from "../../base/abort.ts";
import { isSandboxLoss } from "../../errors/glovebox-error.ts";
import type { Process } from "../../engines/engine.ts";
import type { FirstCause, Interruption } from "../../sandbox/outcome.ts";

/** How long an engine may take to report the end of what has been ended: some seconds on a loaded machine. */
const exitMs = 10_000;

export interface EndLimits {
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Work of ours on the process's streams: if any of these rejects, so does the watch. */
  readonly streams: readonly Promise<unknown>[];
  /** Ends the process and everything it started, as far as possible. */
  readonly end: () => Promise<void>;
}

/**
 * Waits for a process's end: by itself, by its time limit, by its caller, or by the loss of its sandbox. Its exit code is null when
 * its sandbox was lost, and when it could not be ended.
 * @throws what broke its streams off, but for SANDBOX_LOST
 */
export async function untilEnded(
  process: Pick<Process, "exit">,
  { timeoutMs, signal, streams, end }: EndLimits,
): Promise<FirstCause> {
  const { promise: broken, reject: breakOff } = Promise.withResolvers<never>();
  for (const stream of streams) stream.catch(breakOff);
  broken.catch(() => {
    // Also seen by the race below, unless the process's end came first.
  });
  const { promise: interrupted, resolve: interrupt } = Promise.withResolvers<"timeout" | "cancel">();
  const timer = setTimeout(interrupt, timeoutMs, "timeout");
  const onAbort = (): void => interrupt("cancel");
  if (signal?.aborted) onAbort();
  else signal?.addEventListener("abort", onAbort, { once: true });

  let interruption: Interruption = null;
  try {
    const first = await Promise.race([process.exit, interrupted, broken]);
    if (typeof first !== "string") return { interruption, exitCode: first.exitCode };
    interruption = first;
    await end();
    // What another program has stopped may outlive that; then it ends only with its sandbox.
    const isOver = await settlesWithin(process.exit, exitMs);
    return { interruption, exitCode: isOver ? (await process.exit).exitCode : null };
  } catch (error) {
    if (!isSandboxLoss(error)) throw error;
    return { interruption: interruption ?? "lost", exitCode: null };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  }
}
