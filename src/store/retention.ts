import { sql } from "kysely";
import { mebibyte } from "../base/bytes.ts";
import type { Database } from "./database.ts";

/** What the store keeps. */
export interface RetentionLimits {
  /** Whatever is older is removed. */
  readonly maxAgeMs: number;
  /** Most bytes of log entries; beyond it the oldest are removed. */
  readonly maxBytes: number;
}

/** Characters of all reports of tests; beyond it the oldest are removed. */
const maxReportCharacters = 128 * mebibyte;
/** Log entries that one statement removes at most. */
const entriesAtOnce = 10_000;

/**
 * Removes what is too old, and the oldest log entries and reports of tests beyond their limits on size; resolves to how many
 * rows went.
 */
export async function applyRetention(database: Database, limits: RetentionLimits, nowMs: number): Promise<number> {
  const old = await removeOlderThan(database, nowMs - limits.maxAgeMs);
  const beyond = (await removeBeyond(database, limits.maxBytes)) + (await removeReportsBeyond(database));
  // What was removed goes back to the file system; PostgreSQL sees to that by itself.
  if (database.kind === "sqlite") await sql`pragma incremental_vacuum`.execute(database.tables);
  return old + beyond;
}

async function removeOlderThan({ tables }: Database, oldestMs: number): Promise<number> {
  const removed = [
    await tables.deleteFrom("metrics_samples").where("stamp_ms", "<", oldestMs).executeTakeFirst(),
    await tables.deleteFrom("alerts").where("stamp_ms", "<", oldestMs).executeTakeFirst(),
    await tables.deleteFrom("log_entries").where("stamp_ms", "<", oldestMs).executeTakeFirst(),
    await tables.deleteFrom("test_reports").where("stamp_ms", "<", oldestMs).executeTakeFirst(),
    await tables
      .deleteFrom("run_labels")
      .where("run", "in", (query) => query.selectFrom("runs").select("id").where("ended_ms", "<", oldestMs))
      .executeTakeFirst(),
    await tables.deleteFrom("runs").where("ended_ms", "<", oldestMs).executeTakeFirst(),
    await tables
      .deleteFrom("policies")
      .where("digest", "not in", (query) => query.selectFrom("runs").select("policy_digest"))
      .executeTakeFirst(),
  ];
  return removed.reduce((sum, { numDeletedRows }) => sum + Number(numDeletedRows), 0);
}

async function removeBeyond({ tables }: Database, maxBytes: number): Promise<number> {
  const { total } = await tables
    .selectFrom("log_entries")
    .select((row) => row.fn.coalesce(row.fn.sum<number>("bytes"), sql<number>`0`).as("total"))
    .executeTakeFirstOrThrow();
  let excess = total - maxBytes;
  let removed = 0;
  while (excess > 0) {
    const oldest = await tables
      .selectFrom("log_entries")
      .select(["sandbox", "position", "stamp_ms", "bytes"])
      .orderBy("stamp_ms")
      .limit(entriesAtOnce)
      .execute();
    let lastMs = -1;
    for (const { stamp_ms: stampMs, bytes } of oldest) {
      if (excess <= 0 && stampMs > lastMs) break;
      excess -= bytes;
      lastMs = stampMs;
    }
    if (lastMs < 0) break;
    const { numDeletedRows } = await tables
      .deleteFrom("log_entries")
      .where("stamp_ms", "<=", lastMs)
      .executeTakeFirst();
    removed += Number(numDeletedRows);
  }
  return removed;
}

async function removeReportsBeyond({ tables }: Database): Promise<number> {
  const newestFirst = await tables
    .selectFrom("test_reports")
    .select(["sandbox", "size"])
    .orderBy("stamp_ms", "desc")
    .execute();
  let total = 0;
  const beyond = newestFirst.filter(({ size }) => (total += size) > maxReportCharacters);
  if (beyond.length === 0) return 0;
  const { numDeletedRows } = await tables
    .deleteFrom("test_reports")
    .where(
      "sandbox",
      "in",
      beyond.slice(0, entriesAtOnce).map(({ sandbox }) => sandbox),
    )
    .executeTakeFirst();
  return Number(numDeletedRows);
}
