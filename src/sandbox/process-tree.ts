import { setTimeout as sleep } from "node:timers/promises";
import { settlesWithin } from "../base/abort.ts";
import type { Container, Process } from "../engines/engine.ts";

/** Time between SIGTERM and SIGKILL (SPEC LI3, AG2). */
const graceMs = 750;

/** How often we check whether anything is left. */
const lookMs = 25;

export interface EndProcess {
  readonly process: Process;
  /** Told why something may be left. */
  readonly onUnclean?: ((reason: unknown) => void) | undefined;
}

/** `clean`: nothing of a process is left; `unclean`: something may be, and only the sandbox's own end ends it for certain. */
export type TreeEnd = "clean" | "unclean";

/**
 * Ends a process of a one-shot sandbox with all its descendants: SIGTERM, and SIGKILL to whatever is left after the
 * grace time. Resolves when nothing of the program runs any more.
 */
export async function endProcessTree(container: Container, process: Process): Promise<void> {
  await terminate(process);
  await container.kill();
}

/**
 * The same in a sandbox that lives on: other programs in it are not harmed. Never rejects: a sandbox that is `unclean`
 * must be replaced, and the caller be told so.
 */
export async function endProcessAlone(end: EndProcess): Promise<TreeEnd> {
  await terminate(end.process);
  return endLeftBehind(end);
}

/** SIGKILL to everything that a process has left running, itself included. */
export async function endLeftBehind({ process, onUnclean }: EndProcess): Promise<TreeEnd> {
  try {
    await process.kill("SIGKILL");
    return "clean";
  } catch (error) {
    // Full, broken, or out of reach: it must be replaced for any of them.
    onUnclean?.(error);
    return "unclean";
  }
}

/** SIGTERM to all of the process; resolves when nothing of it is left, at the latest when the grace time is over. */
function terminate(process: Process): Promise<void> {
  return settleAfter(process.kill("SIGTERM"), process);
}

/**
 * Resolves when a process that is sent SIGTERM has ended with all that it started, at the latest when the grace time is
 * over, which begins once the signal has been sent. Sending takes an engine a moment, and may take it no longer than
 * that time: a sandbox too broken to take a signal (pids full, engine busy) is left to SIGKILL.
 */
export async function settleAfter(
  terminated: Promise<unknown>,
  process: Pick<Process, "exit" | "isGone">,
): Promise<void> {
  await settlesWithin(terminated, graceMs);
  const grace = AbortSignal.timeout(graceMs);
  if (!(await settlesWithin(process.exit, graceMs))) return;
  // What an unreachable engine cannot report is also left to SIGKILL.
  while (!grace.aborted && (await process.isGone?.().catch(() => true)) === false) await sleep(lookMs);
}
