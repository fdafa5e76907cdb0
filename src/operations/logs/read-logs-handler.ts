import type { LogEntry, LogStream } from "../../telemetry/logs/log-entry.ts";
import { entryToWire, offsetsOf } from "../../telemetry/logs/log-entry.ts";
import type { OperationCall } from "../contract/operation-call.ts";
import type { RequestOf } from "../contract/operation-contract.ts";
import { handle } from "../handling/handler.ts";
import type { PlatformParts } from "../handling/platform-parts.ts";
import { findLog, type FoundLog } from "./find-log.ts";
import { entryLimit, readLogsContract, type ReadLogsResponse } from "./read-logs-contract.ts";

/** `read_logs`: from the memory of this process, and from the store for what that holds no more. */
export const readLogsHandler = handle(readLogsContract, read);

async function read(
  platform: PlatformParts,
  { id, stream, offset = 0, limit, wait_seconds: waitSeconds = 0 }: RequestOf<typeof readLogsContract>,
  { principal, signal }: OperationCall,
): Promise<ReadLogsResponse> {
  const log = await findLog(platform, id, principal);
  const query = { stream, offset, limit: entryLimit(limit) };
  const page = await readPage(platform, log, query);
  const { entries, nextOffset, isOver } = await withNews(platform, log, { query, page, waitSeconds, signal });
  return {
    container_id: log.sandbox,
    entries: entries.map((entry) => entryToWire(entry)),
    next_offset: nextOffset,
    is_over: isOver,
  };
}

interface Waiting {
  readonly query: PageQuery;
  /** What was there at once. */
  readonly page: Page;
  readonly waitSeconds: number;
  readonly signal: AbortSignal | undefined;
}

/** A page that has entries, or the last one before the time is over. */
async function withNews(
  platform: PlatformParts,
  log: FoundLog,
  { query, page: first, waitSeconds, signal }: Waiting,
): Promise<Page> {
  const { ring } = log;
  if (waitSeconds === 0 || ring === undefined) return first;
  const late = AbortSignal.timeout(waitSeconds * 1_000);
  const over = signal === undefined ? late : AbortSignal.any([late, signal]);
  let page = first;
  while (page.entries.length === 0 && !page.isOver && !over.aborted) {
    await ring.until(page.nextOffset, over);
    page = await readPage(platform, log, { ...query, offset: page.nextOffset });
  }
  return page;
}

interface PageQuery {
  readonly stream: LogStream | undefined;
  readonly offset: number;
  readonly limit: number;
}

interface Page {
  readonly entries: readonly LogEntry[];
  readonly nextOffset: number;
  readonly isOver: boolean;
}

/** Most bytes of one answer's messages: it ends there, however many entries were asked for. */
const maxPageBytes = 8 * 1024 * 1024;

async function readPage({ store }: PlatformParts, log: FoundLog, query: PageQuery): Promise<Page> {
  const { ring, sandbox, principal } = log;
  const isHeld = ring !== undefined && query.offset >= ring.firstOffset;
  if (!isHeld && store !== null) {
    const wanted = { ...query, sandbox, principal };
    const stored = bounded(await store.readEntries({ ...wanted, before: ring?.firstOffset }));
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

/** What is held may have to be read in several goes until enough entries of the stream are found. */
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
