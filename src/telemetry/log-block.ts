import type { Alert } from "./alert.ts";
import { droppedEntry, entryBytes, entryOverhead, type LogEntry, type LogSource, type LogStream } from "./log-entry.ts";

/** Entries of one stream one after another, read at once: a flood of lines is held as one text, not as an object a line. */
export interface LogBlock {
  readonly source: LogSource;
  /** Of its first entry. */
  readonly offset: number;
  /** Milliseconds since the epoch, when it was read. */
  readonly stampMs: number;
  readonly stream: LogStream;
  /** The messages of its entries, with a line feed between two. */
  readonly text: string;
  /** How many entries it is. */
  readonly count: number;
  /** Only of a block of one: its line goes on in the stream's next entry. */
  readonly partial: boolean;
  /** For a block that stands for missing entries: how many, from `offset` on; else 0. */
  readonly dropped: number;
  /** Only of a block of one, of an entry that tells of one. */
  readonly alert?: Alert | undefined;
}

/** Its entries in their order. */
export function entriesOf(block: LogBlock): readonly LogEntry[] {
  const { source, offset, stampMs, stream, text, count, partial, dropped, alert } = block;
  if (count === 1) return [{ source, offset, stampMs, stream, message: text, partial, dropped, alert }];
  return text
    .split("\n")
    .map((message, index) => ({ source, offset: offset + index, stampMs, stream, message, partial, dropped }));
}

/** What stands in for entries that are missing from `offset` on. */
export function droppedBlock(
  source: LogSource,
  missing: { readonly offset: number; readonly count: number },
  stampMs: number,
): LogBlock {
  const { message, ...entry } = droppedEntry(source, missing, stampMs);
  return { ...entry, text: message, count: 1 };
}

/** How many offsets it takes: those of its entries, or of the missing ones that it stands for. */
export function blockOffsets({ count, dropped }: Pick<LogBlock, "count" | "dropped">): number {
  return Math.max(count, dropped);
}

/** What it is counted for wherever memory is bounded; each line of it for a little, since its readers make objects of lines. */
export function blockBytes({ text, count, alert }: Pick<LogBlock, "text" | "count" | "alert">): number {
  return entryBytes({ message: text, alert }) + (count - 1) * lineOverhead;
}

/** What its entries take one by one, where each is a row. */
export function rowBytes({ text, count, alert }: Pick<LogBlock, "text" | "count" | "alert">): number {
  return entryBytes({ message: text, alert }) + (count - 1) * entryOverhead;
}

const lineOverhead = 16;
