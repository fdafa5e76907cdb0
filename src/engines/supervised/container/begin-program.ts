import { setTimeout as sleep } from "node:timers/promises";
import { settlesWithin, untilCancelled } from "../../../base/abort.ts";
import type { SupervisorChannel } from "../channel/channel.ts";
import type { ProgramRequest } from "../channel/program.ts";
import type { StreamEnd } from "../channel/stream.ts";
import { errnoName } from "../frames/linux-errno.ts";
import type { TerminalProcess } from "../../engine.ts";
import { failedProcess, programProcess } from "./program-process.ts";
import { startFailure } from "./start-failure.ts";

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
