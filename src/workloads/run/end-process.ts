import type { Process } from "../../engines/engine.ts";
import { settleAfter } from "../../sandbox/process-tree.ts";

/**
 * Ends a process and all that it started, and nothing else: SIGTERM, and SIGKILL to what is left after the grace time,
 * which is for all of them (SPEC LI3).
 * @throws SANDBOX_LOST when something may be left
 */
export async function endProcess(process: Process): Promise<void> {
  // Whatever hinders the gentle signal, the other follows.
  await settleAfter(process.kill("SIGTERM"), process);
  await process.kill("SIGKILL");
}
