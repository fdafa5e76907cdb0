import { throwIfCancelled } from "../../base/abort.ts";
import { GloveboxError, invalidField } from "../../errors/glovebox-error.ts";
import type { Peers } from "../../peers/peers.ts";
import { entryToWire, offsetsOf } from "../../telemetry/logs/log-entry.ts";
import type { OperationCall } from "../contract/operation-call.ts";
import type { RequestOf } from "../contract/operation-contract.ts";
import { handle } from "../handling/handler.ts";
import type { PlatformParts } from "../handling/platform-parts.ts";
import { findLog, type FoundLog } from "./find-log.ts";
import { readPage, type Page, type PageQuery } from "./read-page.ts";
import { entryLimit, readLogsContract, type ReadLogsResponse } from "./read-logs-contract.ts";

/**
 * `read_logs`: from the memory of this process, and from the store for what is no longer there; for the operator also
 * from the memory of the user's other processes.
 */
export const readLogsHandler = handle(readLogsContract, async (platform, request, call) => {
  const { peers } = platform;
  const isAlone = peers === null || call.isOperator !== true;
  try {
    return await read(platform, request, call);
  } catch (error) {
    if (isAlone || !(error instanceof GloveboxError) || error.errorType !== "NOT_FOUND") throw error;
    return (await askOthers(peers, request, call)) ?? Promise.reject(error);
  }
});

/** The answer of the first process that has the log; null if none has it. */
async function askOthers(
  peers: Pick<Peers, "at" | "addresses">,
  request: ReadRequest,
  call: OperationCall,
): Promise<ReadLogsResponse | null> {
  const addresses = await peers.addresses();
  const answered = new AbortController();
  const signal = AbortSignal.any([answered.signal, ...(call.signal === undefined ? [] : [call.signal])]);
  const asked = addresses.map((address) => peers.at(address)(readLogsContract, request, { ...call, signal }));
  try {
    return await Promise.any(asked);
  } catch {
    throwIfCancelled(call.signal);
    return null;
  } finally {
    answered.abort();
  }
}

type ReadRequest = RequestOf<typeof readLogsContract>;

async function read(
  platform: PlatformParts,
  { id, stream, offset: from, tail, limit, wait_seconds: waitSeconds = 0 }: ReadRequest,
  call: OperationCall,
): Promise<ReadLogsResponse> {
  const { signal } = call;
  if (tail !== undefined && from !== undefined) {
    throw invalidField("tail", "either tail or offset", `tail ${tail} and offset ${from}`);
  }
  const log = await findLog(platform, id, call);
  const offset = tail === undefined ? (from ?? 0) : Math.max(0, (await endOfLog(platform, log)) - tail);
  const query = { stream, offset, limit: entryLimit(limit ?? tail) };
  const page = await readPage(platform, log, query);
  const { entries, nextOffset, isOver } = await withNews(platform, log, { query, page, waitSeconds, signal });
  return {
    container_id: log.sandbox,
    entries: entries.map((entry) => entryToWire(entry)),
    next_offset: nextOffset,
    is_over: isOver,
  };
}

/** The offset after the newest entry. */
async function endOfLog({ store }: PlatformParts, { ring, sandbox, principal }: FoundLog): Promise<number> {
  if (ring !== undefined) return ring.nextOffset;
  const last = await store?.lastEntry({ sandbox, principal });
  return last === undefined || last === null ? 0 : last.offset + offsetsOf(last);
}

interface Waiting {
  readonly query: PageQuery;
  /** What was there immediately. */
  readonly page: Page;
  readonly waitSeconds: number;
  readonly signal: AbortSignal | undefined;
}

/** The first page with entries, or the last one before the time is up. */
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
