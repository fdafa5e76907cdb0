import { throwIfCancelled } from "../base/abort.ts";
import { GloveboxError, invalidField } from "../errors/glovebox-error.ts";
import type { Peers } from "../peers/peers.ts";
import { entryToWire, offsetsOf, droppedEntry, type LogEntry, type LogStream } from "../telemetry/log-entry.ts";
import type { OperationCall, RequestOf } from "./contract/operation-contract.ts";
import { handle } from "./handler.ts";
import type { Store } from "../store/store.ts";
import type { SandboxLogs } from "../telemetry/sandbox-logs.ts";
import type { Environments } from "../workloads/environment/environments.ts";
import { meantSandbox, type SandboxesNeeds } from "./sandboxes-handler.ts";
import { entryLimit, readLogsContract, type ReadLogsResponse } from "./logs-contract.ts";
import type { LogRing } from "../telemetry/log-ring.ts";

/** A sandbox whose log the principal may read. */
interface FoundLog {
  readonly sandbox: string;
  readonly principal: string;
  /** Undefined: only the store has it. */
  readonly ring: LogRing | undefined;
}

/** Where to look for a log. */
export interface LogNeeds extends Pick<SandboxesNeeds, "sandboxes" | "records" | "peers"> {
  /** The newest output of each sandbox, line by line. */
  readonly logs: SandboxLogs;
  /** Null: nothing is stored. */
  readonly store: Store | null;
  readonly environments: Environments;
}

/** Which entries to read. */
interface PageQuery {
  readonly stream: LogStream | undefined;
  readonly offset: number;
  readonly limit: number;
}

/** Entries in order, and where to continue. */
interface Page {
  readonly entries: readonly LogEntry[];
  readonly nextOffset: number;
  readonly isOver: boolean;
}

/** Maximum bytes of one answer's messages: it ends there, however many entries were requested. */
const maxPageBytes = 8 * 1024 * 1024;

/** From memory, or from the store if they are no longer in memory. */
export async function readPage({ store }: Pick<LogNeeds, "store">, log: FoundLog, query: PageQuery): Promise<Page> {
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
 * `read_logs`: from the memory of this process, and from the store for what is no longer there; for the operator also
 * from the memory of the user's other processes.
 */
export const readLogsHandler = handle(readLogsContract, async (platform: LogNeeds, request, call) => {
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
  platform: LogNeeds,
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
async function endOfLog({ store }: LogNeeds, { ring, sandbox, principal }: FoundLog): Promise<number> {
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
  platform: LogNeeds,
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

/**
 * The log of a sandbox by its id, its container's id or, while it lives, its name or the beginning of its id, or of an environment's current sandbox. The operator can read
 * every log in memory, whoever owns it.
 * @throws NOT_FOUND, also for other principals' logs
 */
async function findLog(
  places: LogNeeds,
  id: string,
  { principal, isOperator = false }: Pick<OperationCall, "principal" | "isOperator">,
): Promise<FoundLog> {
  const { logs, sandboxes, store } = places;
  const sandbox = sandboxes.live.find(({ containerId }) => containerId === id)?.id ?? id;
  const ring = logs.find(sandbox);
  if (ring?.source.principal === principal) return { sandbox, principal, ring };
  if (ring !== undefined && isOperator) return { sandbox, principal: ring.source.principal, ring };
  if (ring !== undefined) throw notFound(id);
  if ((await store?.hasEntries({ sandbox, principal })) === true) return { sandbox, principal, ring };
  const present = await ofEnvironment(places, id, principal);
  if (present !== null) return { sandbox: present, principal, ring: logs.find(present) };
  const meant = await meantSandbox(places, id, { principal, isOperator }, "id");
  if (meant === id) throw notFound(id);
  return findLog(places, meant, { principal, isOperator });
}

async function ofEnvironment({ environments }: LogNeeds, id: string, principal: string): Promise<string | null> {
  try {
    return (await (await environments.find(id, principal)).currentIds()).sandboxId;
  } catch (error) {
    if (error instanceof GloveboxError && error.errorType === "NOT_FOUND") return null;
    throw error;
  }
}

function notFound(id: string): GloveboxError {
  return new GloveboxError("NOT_FOUND", `There is no log of a sandbox ${id}.`, {
    suggestion: "Use the sandbox_id of a result; logs are kept for a while, and longer where the server stores them.",
    context: { id },
  });
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
