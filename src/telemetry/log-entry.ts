import type { logStreams } from "../operations/contract/wire-values.ts";
import type { Alert } from "./alert-book.ts";

/** `system`: what Glovebox itself says of the sandbox and its runs. */
export type LogStream = (typeof logStreams)[number];

/** Whose output it is; shared by all its entries. */
export interface LogSource {
  /** Id of the sandbox. */
  readonly sandbox: string;
  readonly principal: string;
}

/** One line of output, or one thing that happened (SPEC LG1). */
export interface LogEntry {
  readonly source: LogSource;
  /** Counts up by one from 0 in each sandbox, all streams together. */
  readonly offset: number;
  /** Milliseconds since the epoch, when it was read. */
  readonly stampMs: number;
  readonly stream: LogStream;
  /** Without its line end; bytes that are not UTF-8 are U+FFFD, NUL is U+2400. */
  readonly message: string;
  /** The line was longer than an entry may be and continues in the stream's next entry. */
  readonly partial: boolean;
  /** For an entry that stands for missing ones: how many, from `offset` on; else 0. */
  readonly dropped: number;
  /** Of an entry that tells of one. */
  readonly alert?: Alert | undefined;
}

/** An entry as clients and subscribers get it. */
export interface WireLogEntry {
  readonly container_id: string;
  readonly offset: number;
  /** RFC 3339. */
  readonly timestamp: string;
  readonly stream: LogStream;
  readonly message: string;
  readonly partial?: true;
  readonly dropped?: number;
  readonly alert?: Alert;
}

export function entryToWire(entry: LogEntry): WireLogEntry {
  const { source, offset, stampMs, stream, message, partial, dropped, alert } = entry;
  const timestamp = new Date(stampMs).toISOString();
  const line = { container_id: source.sandbox, offset, timestamp, stream, message };
  if (!partial && dropped === 0 && alert === undefined) return line;
  return {
    ...line,
    ...(partial ? { partial } : {}),
    ...(dropped === 0 ? {} : { dropped }),
    ...(alert === undefined ? {} : { alert }),
  };
}

/** What stands in for entries that are missing from `offset` on. */
export function droppedEntry(
  source: LogSource,
  missing: { readonly offset: number; readonly count: number },
  stampMs: number,
): LogEntry {
  const { offset, count } = missing;
  const message = `${count} ${count === 1 ? "entry is" : "entries are"} missing here`;
  return { source, offset, stampMs, stream: "system", message, partial: false, dropped: count };
}

/** How many offsets it takes: those of the missing entries that it stands for. */
export function offsetsOf({ dropped }: Pick<LogEntry, "dropped">): number {
  return Math.max(1, dropped);
}

/** An entry's size wherever memory is limited: its text, plus the object's overhead. */
export function entryBytes({ message, alert }: Pick<LogEntry, "message" | "alert">): number {
  const ofAlert = alert === undefined ? 0 : entryOverhead + (alert.message.length + alert.suggestion.length) * 2;
  return entryOverhead + message.length * 2 + ofAlert;
}

/** An entry's size in addition to its text. */
const entryOverhead = 160;

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
