import { settlesWithin } from "../../base/abort.ts";
import type { Process } from "../../engines/engine.ts";

/** Time between SIGTERM and SIGKILL (SPEC LI3). */
const graceMs = 750;

/**
 * Ends a process and all that it started, and nothing else: SIGTERM, and SIGKILL to what is left after the grace
 * time, which begins once the signal has been sent.
 * @throws SANDBOX_LOST when something may be left
 */
export async function endProcess(process: Process): Promise<void> {
  // Whatever hinders the gentle signal, the other follows.
  await settlesWithin(process.kill("SIGTERM"), graceMs);
  await settlesWithin(process.exit, graceMs);
  await process.kill("SIGKILL");
}
