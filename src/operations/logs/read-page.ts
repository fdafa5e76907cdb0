import { droppedEntry, offsetsOf, type LogEntry, type LogStream } from "../../telemetry/logs/log-entry.ts";
import type { PlatformParts } from "../handling/platform-parts.ts";
import type { FoundLog } from "./find-log.ts";

/** Which entries to read. */
export interface PageQuery {
  readonly stream: LogStream | undefined;
  readonly offset: number;
  readonly limit: number;
}

/** Entries in order, and where to continue. */
export interface Page {
  readonly entries: readonly LogEntry[];
  readonly nextOffset: number;
  readonly isOver: boolean;
}

/** Maximum bytes of one answer's messages: it ends there, however many entries were requested. */
const maxPageBytes = 8 * 1024 * 1024;

/** From memory, or from the store if they are no longer in memory. */
export async function readPage(
  { store }: Pick<PlatformParts, "store">,
  log: FoundLog,
  query: PageQuery,
): Promise<Page> {
  const { ring, sandbox, principal } = log;
  const isHeld = ring !== undefined && query.offset >= ring.firstOffset;
  if (!isHeld && store !== null) {
    const wanted = { ...query, sandbox, principal, before: ring?.firstOffset };
    const stored = joined(bounded(await store.readEntries(wanted)), wanted);
    const last = stored.at(-1);
    if (last !== undefined) {
      const nextOffset = last.offset + offsetsOf(last);
      const isLast =
        ring === undefined && (await store.readEntries({ ...wanted, offset: nextOffset, limit: 1 })).length === 0;
      return { entries: stored, nextOffset, isOver: isLast };
    }
  }
  if (ring === undefined) return { entries: [], nextOffset: query.offset, isOver: true };
  return readHeld(ring, query);
}

interface Joint extends PageQuery {
  /** From this offset on, entries are read from memory; undefined: it has none. */
  readonly before: number | undefined;
}

/**
 * Stored entries, joined to what was read before and to what is in memory: an entry that stands for missing ones may
 * overlap both, because what could not be sent to the store in time may still be in memory.
 */
function joined(stored: readonly LogEntry[], { offset, limit, stream, before }: Joint): readonly LogEntry[] {
  const [first] = stored;
  const last = stored.at(-1);
  if (first === undefined || last === undefined) return stored;
  // Other streams' entries lie between those of one.
  const isGap = stream === undefined && first.offset > offset;
  const gap = isGap ? [droppedEntry(first.source, { offset, count: first.offset - offset }, first.stampMs)] : [];
  const reachesOver = before !== undefined && last.dropped > 0 && last.offset + last.dropped > before;
  const cut = reachesOver ? droppedEntry(last.source, { ...last, count: before - last.offset }, last.stampMs) : last;
  return [...gap, ...stored.slice(0, -1), cut].slice(0, limit);
}

/** Memory may have to be read several times until enough entries of the stream are found. */
function readHeld(ring: NonNullable<FoundLog["ring"]>, { stream, offset, limit }: PageQuery): Page {
  const entries: LogEntry[] = [];
  let nextOffset = offset;
  while (entries.length < limit && nextOffset < ring.nextOffset) {
    const page = ring.read(nextOffset, limit - entries.length);
    if (page.nextOffset <= nextOffset) break;
    nextOffset = page.nextOffset;
    entries.push(
      ...page.entries.filter((entry) => stream === undefined || entry.stream === stream || entry.dropped > 0),
    );
  }
  return { entries, nextOffset, isOver: ring.hasEnded && nextOffset >= ring.nextOffset };
}

function bounded(entries: readonly LogEntry[]): readonly LogEntry[] {
  let bytes = 0;
  const end = entries.findIndex(({ message }) => (bytes += message.length) > maxPageBytes);
  return end < 1 ? entries : entries.slice(0, end);
}
