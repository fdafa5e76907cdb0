import { untilWritable } from "../base/streams/chunks.ts";
import type { ReadLogsResponse } from "../operations/logs-contract.ts";
import type { CommandIo } from "./command-io.ts";
import type { OutputStream } from "./output/program-output.ts";
import { escapeControls, escapeLine } from "./output/terminal-escape.ts";

export type LogEntry = ReadLogsResponse["entries"][number];

/** Prints an entry: a program's line to the stream that it came from, Glovebox's own lines to stderr. */
export async function printEntry(entry: LogEntry, { stdout, stderr }: CommandIo): Promise<void> {
  const { stream, message, partial, dropped } = entry;
  if (stream === "system" || dropped !== undefined) return put(stderr, `glovebox: ${escapeLine(message)}\n`);
  const target = stream === "stdout" ? stdout : stderr;
  const text = target.isTTY === true ? escapeControls(message) : message;
  return put(target, partial === true ? text : `${text}\n`);
}

/** Prints an entry as one line of JSON. */
export function printJson(entry: LogEntry, { stdout }: CommandIo): Promise<void> {
  return put(stdout, `${JSON.stringify(entry)}\n`);
}

async function put(target: OutputStream, text: string): Promise<void> {
  if (target.destroyed) return;
  if (!target.write(text)) await untilWritable(target);
}
