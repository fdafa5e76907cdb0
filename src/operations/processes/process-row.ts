import type { BackgroundProcess } from "../../workloads/place/background-process.ts";
import type { ProcessRow } from "./process-schema.ts";
import type { ListProcessesResponse } from "./processes-contract.ts";

type Part = NonNullable<ListProcessesResponse["processes"][number]["stdout"]>;

/** A background process as callers see it. */
export function processRow({ id, command, state, exitCode, startedAtMs, ports }: BackgroundProcess): ProcessRow {
  return {
    process_id: id,
    command: [...command],
    state,
    exit_code: exitCode,
    started_at: new Date(startedAtMs).toISOString(),
    ports: ports.map((open) => ({ ...open })),
  };
}

/** What it wrote to one stream, from an offset on. */
export function outputPart(
  process: BackgroundProcess,
  stream: "stdout" | "stderr",
  { offset, maxBytes }: { readonly offset: number; readonly maxBytes: number },
): Part {
  const isOver = process.isOutputOver;
  const part = process[stream].part({ offset, maxBytes, isOver });
  return {
    offset: part.offset,
    text: part.text,
    next_offset: part.nextOffset,
    total_bytes: process[stream].totalBytes,
    is_over: isOver && part.nextOffset === process[stream].totalBytes,
  };
}
