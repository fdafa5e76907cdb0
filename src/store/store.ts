import { settlesWithin } from "../base/abort.ts";
import { Turns } from "../base/turns.ts";
import { BatchPump, type PumpState } from "../base/batch-pump.ts";
import { kibibyte, mebibyte } from "../base/bytes.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import {
  rowBytes,
  entriesOf,
  entryBytes,
  type LogBlock,
  type LogEntry,
  type LogStream,
} from "../telemetry/log-entry.ts";
import { LogSink } from "../telemetry/log-sink.ts";
import { makeDatabase, migrate, ping, refusesRow, type Database, type StorePlace } from "./database.ts";
import { applyRetention, maxEntryBytes, type RetentionLimits } from "./retention.ts";
import { Servers, type ServersOptions } from "./servers.ts";
import {
  isOfRun,
  recordBytes,
  writeRecords,
  findRun,
  findTestReport,
  listEndedRuns,
  readTail,
  type StoreRecord,
  type RunName,
  type RunsQuery,
  type StoredRun,
} from "./stored-records.ts";
import { sql } from "kysely";
import type { LogEntryRow } from "./tables.ts";
import type { Kit } from "../base/kit.ts";

/** What of the store they need. */
interface Records {
  add(record: StoreRecord): void;
  read<Result>(principal: string, work: (database: Database) => Promise<Result>): Promise<Result>;
}

/** The recorded runs, for those that ask for their results. */
class StoredRuns {
  readonly #store: Records;

  constructor(store: Records) {
    this.#store = store;
  }

  /** Null: the principal has none of that id. @throws INTERNAL when the store does not answer */
  find(name: RunName): Promise<StoredRun | null> {
    return this.#store.read(name.principal, (database) => findRun(database, name));
  }

  /** Ended ones, the newest first. @throws INTERNAL when the store does not answer */
  listEnded(query: RunsQuery): Promise<readonly StoredRun[]> {
    return this.#store.read(query.principal, (database) => listEndedRuns(database, query));
  }

  /** The end of its output, at most 4096 bytes a stream. @throws INTERNAL when the store does not answer */
  tails(run: StoredRun): Promise<Readonly<Record<"stdout" | "stderr", string>>> {
    return this.#store.read(run.principal, async (database) => ({
      stdout: await readTail(database, run, "stdout"),
      stderr: await readTail(database, run, "stderr"),
    }));
  }

  /** The report of the tests in a sandbox, gzip in base64; null: none is kept. @throws INTERNAL when the store does not answer */
  testReport(name: RunName): Promise<string | null> {
    return this.#store.read(name.principal, (database) => findTestReport(database, name));
  }

  /** Its result is shown no more; the record stays for those who can read the database. */
  forget(run: RunName): void {
    this.#store.add({ kind: "run_forgotten", run });
  }
}

/** Which entries of a sandbox are wanted. */
interface EntriesQuery {
  readonly sandbox: string;
  /** Others' entries are not found. */
  readonly principal: string;
  /** The first that is wanted. */
  readonly offset: number;
  /** Default: no end. */
  readonly before?: number | undefined;
  /** Default: all. */
  readonly stream?: LogStream | undefined;
  readonly limit: number;
}

/** Bytes of what one query reads, as `bytes` of the rows counts them; the first entry is read whatever it has. */
const maxPageBytes = 4 * mebibyte;

/** Stored entries in their order: as many as are wanted, or as 4 MiB hold. */
async function readEntries({ tables }: Database, query: EntriesQuery): Promise<readonly LogEntry[]> {
  const { sandbox, principal, offset, before, stream, limit } = query;
  let select = tables
    .selectFrom("log_entries")
    .where("sandbox", "=", sandbox)
    .where("principal", "=", principal)
    .where("position", ">=", offset)
    .orderBy("position")
    .limit(limit);
  if (before !== undefined) select = select.where("position", "<", before);
  // What is missing, is missing from every stream.
  if (stream !== undefined)
    select = select.where((where) => where.or([where("stream", "=", stream), where("dropped", ">", 0)]));
  // Their sizes first: what would be too much never leaves the database.
  const sizes = await select.select(["position", "bytes"]).execute();
  let total = 0;
  const end = sizes.findIndex(({ bytes }, index) => (total += bytes) > maxPageBytes && index > 0);
  const last = sizes.at(end < 0 ? -1 : end - 1);
  if (last === undefined) return [];
  const rows = await select.selectAll().where("position", "<=", last.position).execute();
  return rows.map((row) => entryOf(row, query));
}

/** The newest stored entry of a sandbox; null when there is none. */
async function lastEntry(
  { tables }: Database,
  source: Pick<EntriesQuery, "sandbox" | "principal">,
): Promise<LogEntry | null> {
  const row = await tables
    .selectFrom("log_entries")
    .selectAll()
    .where("sandbox", "=", source.sandbox)
    .where("principal", "=", source.principal)
    .orderBy("position", "desc")
    .limit(1)
    .executeTakeFirst();
  return row === undefined ? null : entryOf(row, source);
}

function entryOf(row: LogEntryRow, { sandbox, principal }: Pick<EntriesQuery, "sandbox" | "principal">): LogEntry {
  return {
    source: { sandbox, principal },
    offset: row.position,
    stampMs: row.stamp_ms,
    stream: row.stream as LogStream,
    message: row.message,
    partial: row.partial === 1,
    dropped: row.dropped,
  };
}

/** The principal of a sandbox that has stored entries from an offset on; null when there are none. */
async function hasEntries(
  { tables }: Database,
  { sandbox, principal }: Pick<EntriesQuery, "sandbox" | "principal">,
): Promise<boolean> {
  // No id of ours holds one, and PostgreSQL refuses to compare it.
  if (sandbox.includes("\0")) return false;
  const row = await tables
    .selectFrom("log_entries")
    .select("position")
    .where("sandbox", "=", sandbox)
    .where("principal", "=", principal)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Writes log entries, all or none; those that are there already stay as they are. */
async function insertEntries({ kind, tables }: Database, blocks: readonly LogBlock[]): Promise<void> {
  // One parameter and one text of a statement: building thousands of parameters would cost more than the writing.
  const rows = JSON.stringify(blocks.flatMap((block) => entriesOf(block).map(rowOf)));
  const columns = sql`insert into log_entries (sandbox, position, principal, stamp_ms, stream, message, partial, dropped, bytes)`;
  const statement =
    kind === "sqlite"
      ? sql`${columns} select value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6,
          value ->> 7, value ->> 8 from json_each(${rows}) where true on conflict do nothing`
      : sql`${columns} select e ->> 0, (e ->> 1)::bigint, e ->> 2, (e ->> 3)::bigint, e ->> 4, e ->> 5, (e ->> 6)::int,
          (e ->> 7)::bigint, (e ->> 8)::int from json_array_elements(${rows}::json) e on conflict do nothing`;
  await statement.execute(tables);
}

function rowOf(entry: LogEntry): readonly (string | number)[] {
  const { source, offset, stampMs, stream, message, partial, dropped } = entry;
  const bytes = entryBytes(entry);
  return [source.sandbox, offset, source.principal, stampMs, stream, message, partial ? 1 : 0, dropped, bytes];
}

export interface StoreOptions extends Pick<Kit, "logger" | "now" | "monotonicMs"> {
  readonly place: StorePlace;
  /** Done before the database is opened, and tried again with it. */
  readonly prepare?: (() => Promise<void>) | undefined;
  readonly retention: RetentionLimits;
  /** Most bytes of stdout and of stderr that one run may leave in it (SPEC OU4). */
  readonly maxRunBytes: number;
  readonly server: Omit<ServersOptions, "now" | "monotonicMs">;
}

/** What is known of the store, for people and for `/readyz`. */
export interface StoreState {
  readonly kind: StorePlace["kind"];
  readonly entries: PumpState;
  readonly records: PumpState;
}

/** What waits to be written, at most: log entries, and everything else, which a flood of entries cannot displace. */
const queueBytes = { entries: 8 * mebibyte, records: 4 * mebibyte } as const;
/** Share of the room for records that samples, alerts and reports of tests may take: the rest is kept for runs. */
const othersShare = 0.5;
const batch = { blocks: 1_000, blockBytes: 256 * kibibyte, records: 200 } as const;
/**
 * How long what a run leaves while it runs may wait to be written with what comes after it: a short run is then written at
 * its end, and not in its own way.
 */
const gatherMs = 50;
/** How often this server gives a sign of life, and looks for servers that are gone. */
const beatEveryMs = 60_000;
/** How often what is too old or too much is removed: each so many beats, */
const retentionBeats = 10;
/** and when so much of the limit on log entries was written since, beyond it. */
const retentionShare = 0.1;
/** How long opening it may take before it is said to be away. */
const answerMs = 5_000;
/** How long a reader waits for entries that are on their way. */
const onItsWayMs = 1_000;
/** How long the last word to it may take, and then its end. */
const leaveMs = 250;

/** Reads of one principal that wait for its turn. */
const maxWaitingReads = 100;

/** The database of runs, their policies, logs, metrics and alerts. What is put in never waits and never fails. */
export class Store {
  readonly #options: StoreOptions;
  readonly #database: Database;
  readonly #servers: Servers;
  readonly #records: BatchPump<StoreRecord>;
  /** Where log entries go in. */
  readonly entries: LogSink;
  /** The recorded runs. */
  readonly runs: StoredRuns = new StoredRuns(this);
  /** Whose turn it is among the reads of each principal that reads now. */
  readonly #reads = new Map<string, Turns>();
  #opening: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #beats = 0;
  #retaining: Promise<void> | undefined;
  /** Of log entries: the most that may stay, what was left when the oldest were last removed, and what was written since. */
  #maxBytes: number;
  #leftBytes = 0;
  #writtenBytes = 0;

  /** Nothing is opened yet. */
  constructor(options: StoreOptions) {
    this.#options = options;
    this.#maxBytes = options.retention.maxBytes;
    const { place, logger, now, monotonicMs, server, maxRunBytes } = options;
    this.#database = makeDatabase(place, (error) =>
      logger.debug({ err: error }, "a connection of the store has ended"),
    );
    this.#servers = new Servers({ ...server, now, monotonicMs });
    const shared = { logger, isHopeless: refusesRow, gatherMs };
    this.entries = new LogSink({
      ...shared,
      name: "the store's log entries",
      maxBytes: queueBytes.entries,
      batchItems: batch.blocks,
      batchBytes: batch.blockBytes,
      maxRunBytes,
      now,
      write: async (blocks) => this.#writeEntries(await this.#open(), blocks),
    });
    this.#records = new BatchPump({
      ...shared,
      name: "the store's records",
      maxBytes: queueBytes.records,
      batchItems: batch.records,
      write: async (records) => writeRecords(await this.#open(), records),
    });
  }

  get state(): StoreState {
    return { kind: this.#options.place.kind, entries: this.entries.state, records: this.#records.state };
  }

  /** Opens the database in the background, and again until it answers; ends what servers that are gone left open. */
  start(): void {
    const beat = (): void => void this.#beat();
    this.#timer ??= setInterval(beat, beatEveryMs);
    this.#timer.unref();
    beat();
  }

  /**
   * Writes a record down: soon if it begins something, else at once. False if it finds no room, which is counted. The end
   * of a run whose start was taken always finds some.
   */
  add(record: StoreRecord): boolean {
    const bytes = recordBytes(record);
    if (!isOfRun(record) && this.#records.freeBytes - bytes < queueBytes.records * (1 - othersShare)) {
      this.#records.countDropped();
      return false;
    }
    const isTaken = this.#records.push(record, bytes, record.kind === "run_end");
    if (record.kind !== "run" && record.kind !== "sample") this.#records.hurry();
    return isTaken;
  }

  /** @throws INTERNAL when the database does not answer */
  readEntries(query: EntriesQuery): Promise<readonly LogEntry[]> {
    return this.read(query.principal, (database) => readEntries(database, query), [this.entries]);
  }

  /** The newest entry of a sandbox; null: none is here. @throws INTERNAL when the database does not answer */
  lastEntry(query: Pick<EntriesQuery, "sandbox" | "principal">): Promise<LogEntry | null> {
    return this.read(query.principal, (database) => lastEntry(database, query), [this.entries]);
  }

  /** Whether the principal has entries of that sandbox here. @throws INTERNAL when the database does not answer */
  hasEntries(query: Pick<EntriesQuery, "sandbox" | "principal">): Promise<boolean> {
    return this.read(query.principal, (database) => hasEntries(database, query), []);
  }

  /**
   * Reads when what is on its way has arrived, for which it waits a second at most; default: runs, samples and alerts. Of one
   * principal one read after another, so that nobody's many reads delay what others read and write.
   * @throws INTERNAL when the database does not answer, CAPACITY when too many of the principal's wait
   */
  async read<Result>(
    principal: string,
    work: (database: Database) => Promise<Result>,
    queues: readonly { idle(): Promise<void> }[] = [this.#records],
  ): Promise<Result> {
    const turns = this.#reads.get(principal) ?? new Turns();
    if (turns.waiting >= maxWaitingReads) throw tooManyReads();
    this.#reads.set(principal, turns);
    const end = await turns.take();
    try {
      const database = await this.#open();
      // What is on its way would look as if it were missing.
      await settlesWithin(Promise.all(queues.map((queue) => queue.idle())), onItsWayMs);
      return await work(database);
    } catch (error) {
      throw new GloveboxError("INTERNAL", "The store of this server does not answer.", {
        suggestion: "Send the request again later; /readyz says when the store answers.",
        cause: error,
      });
    } finally {
      end();
      if (turns.isFree) this.#reads.delete(principal);
    }
  }

  /** The database for those that read tables of their own. @throws what the database says when it cannot be opened */
  database(): Promise<Database> {
    return this.#open();
  }

  /** Whether the database answers, within 5 s, and takes what it is given, which a full disk does not. */
  async answers(): Promise<boolean> {
    if (this.entries.state.isFailing || this.#records.state.isFailing) return false;
    let isAnswered = false;
    const asked = this.#open().then(async (database) => {
      await ping(database);
      isAnswered = true;
    });
    await settlesWithin(Promise.allSettled([asked]), answerMs);
    return isAnswered;
  }

  /** Resolves when all that was put in is written. */
  async idle(): Promise<void> {
    await Promise.all([this.entries.idle(), this.#records.idle()]);
  }

  /** Writes what waits as far as the time allows, and lets the database go. */
  async close(withinMs: number): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all([this.entries.close(withinMs), this.#records.close(withinMs)]);
    const left = Promise.allSettled([this.#opening?.then(() => this.#servers.leave(this.#database))]);
    await settlesWithin(left, leaveMs);
    await settlesWithin(Promise.allSettled([this.#database.tables.destroy()]), leaveMs);
  }

  /** The database with today's tables; tried again at the next use when it fails. */
  async #open(): Promise<Database> {
    this.#opening ??= this.#prepare();
    try {
      await this.#opening;
    } catch (error) {
      this.#opening = undefined;
      throw error;
    }
    return this.#database;
  }

  async #prepare(): Promise<void> {
    await this.#options.prepare?.();
    await migrate(this.#database);
    await this.#servers.beat(this.#database);
    await this.#endInterrupted();
  }

  async #beat(): Promise<void> {
    const { logger } = this.#options;
    try {
      const database = await this.#open();
      await this.#servers.beat(database);
      await this.#endInterrupted();
      if (this.#beats % retentionBeats === 0) await this.#retain(database);
      this.#beats += 1;
    } catch (error) {
      logger.warn({ err: error }, "the store does not answer; it is tried again");
    }
  }

  /** What comes fast is removed as fast, beside the writing: until the next beats, floods could fill the disk. */
  async #writeEntries(database: Database, blocks: readonly LogBlock[]): Promise<void> {
    await insertEntries(database, blocks);
    this.#writtenBytes += blocks.reduce((sum, block) => sum + rowBytes(block), 0);
    if (this.#writtenBytes < this.#maxBytes * retentionShare) return;
    if (this.#leftBytes + this.#writtenBytes > this.#maxBytes) void this.#retain(database);
  }

  /** One at a time; a failed one is tried again with the next beats, or when as much was written again. */
  #retain(database: Database): Promise<void> {
    this.#retaining ??= this.#removeExcess(database).finally(() => (this.#retaining = undefined));
    return this.#retaining;
  }

  async #removeExcess(database: Database): Promise<void> {
    const { place, now, retention, logger } = this.#options;
    const writtenBytes = this.#writtenBytes;
    this.#writtenBytes = 0;
    try {
      this.#maxBytes = await maxEntryBytes(place, retention);
      this.#leftBytes = await applyRetention(database, { ...retention, maxBytes: this.#maxBytes }, now());
    } catch (error) {
      this.#leftBytes += writtenBytes;
      logger.warn({ err: error }, "what the store has too much of cannot be removed now; it is tried again");
    }
  }

  async #endInterrupted(): Promise<void> {
    const count = await this.#servers.endInterrupted(this.#database);
    if (count > 0) this.#options.logger.warn({ count }, "runs of a server that is gone are marked interrupted");
  }
}

function tooManyReads(): GloveboxError {
  return new GloveboxError("CAPACITY", `${maxWaitingReads} of your requests wait to read the store already.`, {
    suggestion: "Wait for their answers, which come one after another.",
    context: { limit: maxWaitingReads, retry_after_seconds: 5 },
  });
}
