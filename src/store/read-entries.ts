import { mebibyte } from "../base/bytes.ts";
import type { LogEntry, LogStream } from "../telemetry/logs/log-entry.ts";
import type { Database } from "./database.ts";
import type { LogEntryRow } from "./tables.ts";

/** Which entries of a sandbox are wanted. */
export interface EntriesQuery {
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
export async function readEntries({ tables }: Database, query: EntriesQuery): Promise<readonly LogEntry[]> {
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
export async function lastEntry(
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
export async function hasEntries(
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
