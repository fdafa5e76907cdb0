import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import { sandboxStatsContract } from "../../operations/metrics-contract.ts";
import type { CommandIo, SetExitCode } from "../command-io.ts";
import { openCalls } from "../open-calls.ts";
import { sandboxWords } from "../output/name-option.ts";
import { statsTable } from "../output/stats-table.ts";

interface StatsOptions {
  readonly once?: boolean;
  readonly json?: boolean;
}

const intervalMs = 1_000;
/** Moves up to the top of what was drawn, and clears everything below. */
const upAndClear = (lines: number): string => (lines === 0 ? "" : `\u001B[${lines}A\u001B[0J`);

/** `glovebox stats`: what live sandboxes use, redrawn each second on a terminal. */
export function addStatsCommand(program: Command, io: CommandIo, setExitCode: SetExitCode): void {
  program
    .command("stats")
    .argument("[id]", `only this sandbox: ${sandboxWords}`)
    .option("--once", "print it once")
    .option("--json", "print one JSON object each second")
    .action(async (id: string | undefined, { once, json }: StatsOptions) => {
      await using calls = await openCalls();
      const redraws = json !== true && once !== true && io.stdout.isTTY === true;
      let lines = 0;
      setExitCode(0);
      for (let first = true; ; first = false) {
        const { sandboxes } = await calls.send(sandboxStatsContract, { id }, { signal: io.signal });
        const text = json === true ? `${JSON.stringify({ sandboxes })}\n` : statsTable(sandboxes);
        io.stdout.write(redraws ? upAndClear(lines) + text : first || json === true ? text : `\n${text}`);
        lines = text.split("\n").length - 1;
        if (once === true) return;
        // Ctrl-C is the normal way to end it.
        if (!(await slept(intervalMs, io.signal))) return;
      }
    });
}

async function slept(milliseconds: number, signal: AbortSignal): Promise<boolean> {
  try {
    await sleep(milliseconds, undefined, { signal });
    return true;
  } catch {
    return false;
  }
}
