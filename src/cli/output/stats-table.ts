import type { SandboxStatsRow } from "../../operations/metrics-contract.ts";
import { formatTable } from "./format-table.ts";

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
