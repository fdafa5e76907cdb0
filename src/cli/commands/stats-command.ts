import { sandboxStatsContract, type SandboxStatsRow } from "../../operations/metrics-contract.ts";
import { formatTable } from "../output/format-table.ts";
import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import type { CommandIo, SetExitCode } from "../command-io.ts";
import { openCalls } from "../open-calls.ts";
import { sandboxWords } from "../output/name-option.ts";

/** One line per sandbox; `-` for what its engine does not report. */
export function statsTable(rows: readonly SandboxStatsRow[]): string {
  return formatTable(
    ["SANDBOX", "NAME", "ENGINE", "KIND", "CPU %", "MEMORY MB", "NET IN/OUT", "DISK READ/WRITE", "UP"],
    rows.map(({ container_id: id, name, engine, kind, limits, sample }) => [
      id,
      name ?? "-",
      engine,
      kind,
      `${shown(sample?.cpu_percent)} of ${limits.cpus * 100}`,
      `${shown(sample?.memory_mb)} of ${limits.memory_mb}`,
      `${bytes(sample?.network_rx_bytes)}/${bytes(sample?.network_tx_bytes)}`,
      `${bytes(sample?.disk_read_bytes)}/${bytes(sample?.disk_write_bytes)}`,
      sample === null ? "-" : `${Math.round(sample.uptime_seconds)} s`,
    ]),
  );
}

function shown(value: number | null | undefined): string {
  return value === null || value === undefined ? "-" : String(value);
}

const units = ["B", "kB", "MB", "GB", "TB"] as const;

/** Short, for a column: `1.5 MB`; 1 kB is 1024 bytes. */
function bytes(value: number | null | undefined): string {
  if (value === null || value === undefined) return "-";
  const step = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, value)) / 10));
  const scaled = value / 1024 ** step;
  return `${scaled < 10 && step > 0 ? scaled.toFixed(1) : Math.round(scaled)} ${units[step] ?? ""}`;
}

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
