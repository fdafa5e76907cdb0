import { setTimeout as sleep } from "node:timers/promises";
import { settlesWithin } from "../base/abort.ts";
import type { Capabilities } from "../engines/capabilities.ts";
import type { Container, Process } from "../engines/engine.ts";

/** Time between SIGTERM and SIGKILL (SPEC LI3, AG2). */
const graceMs = 750;

/** How often we check whether anything is left. */
const lookMs = 25;

/** Signals every process of the caller's own user except pid 1 and those of other users; needs only a shell. */
const terminateOwnProcesses = ["sh", "-c", "kill -TERM -1"];

export interface EndProcessTree {
  readonly container: Container;
  readonly capabilities: Capabilities;
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
export async function endProcessTree(tree: EndProcessTree): Promise<void> {
  await terminate(tree);
  await tree.container.kill();
}

/**
 * The same in a sandbox that lives on: other programs in it are not harmed. Never rejects: a sandbox that is `unclean`
 * must be replaced, and the caller be told so.
 */
export async function endProcessAlone(tree: EndProcessTree): Promise<TreeEnd> {
  await terminate(tree);
  return endLeftBehind(tree);
}

/** SIGKILL to everything that a process has left running, itself included. */
export async function endLeftBehind(tree: Omit<EndProcessTree, "container">): Promise<TreeEnd> {
  const { capabilities, process, onUnclean } = tree;
  if (!capabilities.execKill) return "unclean";
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
function terminate({ container, capabilities, process }: EndProcessTree): Promise<void> {
  return settleAfter(capabilities.execKill ? process.kill("SIGTERM") : terminateByExec(container), process);
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

async function terminateByExec(container: Container): Promise<void> {
  const signaller = await container.exec({ command: terminateOwnProcesses });
  signaller.stdin.end();
  await signaller.exit;
}
