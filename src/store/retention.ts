import { statfs } from "node:fs/promises";
import path from "node:path";
import { sql } from "kysely";
import { mebibyte } from "../base/bytes.ts";
import type { Database, StorePlace } from "./database.ts";

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
/** Pages of 4 KiB that SQLite gives back at once. */
const pagesAtOnce = 2_000;
/** Share of its file system that SQLite's log entries may take: runs need room too, and so does removing. */
const maxDiskShare = 0.5;

/** Most bytes of log entries at that place: never so many that they fill its file system. */
export async function maxEntryBytes(place: StorePlace, { maxBytes }: RetentionLimits): Promise<number> {
  if (place.kind !== "sqlite") return maxBytes;
  const { blocks, bsize } = await statfs(path.dirname(place.file));
  // Some file systems do not say how large they are.
  return blocks === 0 ? maxBytes : Math.min(maxBytes, blocks * bsize * maxDiskShare);
}

/**
 * Removes what is too old, and the oldest log entries and reports of tests beyond their limits on size; resolves to the bytes
 * of log entries that are left. Each statement takes a turn of its own: others write in between.
 */
export async function applyRetention(database: Database, limits: RetentionLimits, nowMs: number): Promise<number> {
  await removeOlderThan(database, nowMs - limits.maxAgeMs);
  const leftBytes = await removeBeyond(database, limits.maxBytes);
  await removeReportsBeyond(database);
  // PostgreSQL sees to that by itself.
  if (database.kind === "sqlite") await giveBack(database);
  return leftBytes;
}

/** Gives the pages of what was removed back to the file system. */
async function giveBack({ tables }: Database): Promise<void> {
  for (let before = Infinity; ;) {
    const { rows } = await sql<{ readonly freelist_count: number }>`pragma freelist_count`.execute(tables);
    const free = rows[0]?.freelist_count ?? 0;
    // As many as before: those who write need them as fast as they are given back.
    if (free === 0 || free >= before) return;
    before = free;
    await sql`pragma incremental_vacuum(${sql.lit(pagesAtOnce)})`.execute(tables);
  }
}

async function removeOlderThan({ tables }: Database, oldestMs: number): Promise<void> {
  for (const name of ["metrics_samples", "alerts", "log_entries", "test_reports"] as const) {
    await tables.deleteFrom(name).where("stamp_ms", "<", oldestMs).execute();
  }
  await tables
    .deleteFrom("run_labels")
    .where("run", "in", (query) => query.selectFrom("runs").select("id").where("ended_ms", "<", oldestMs))
    .execute();
  await tables.deleteFrom("runs").where("ended_ms", "<", oldestMs).execute();
  await tables
    .deleteFrom("policies")
    .where("digest", "not in", (query) => query.selectFrom("runs").select("policy_digest"))
    .execute();
}

/** Removes the oldest; resolves to about the bytes that are left. */
async function removeBeyond({ tables }: Database, maxBytes: number): Promise<number> {
  const { total } = await tables
    .selectFrom("log_entries")
    .select((row) => row.fn.coalesce(row.fn.sum<number>("bytes"), sql<number>`0`).as("total"))
    .executeTakeFirstOrThrow();
  let excess = total - maxBytes;
  while (excess > 0) {
    const oldest = await tables
      .selectFrom("log_entries")
      .select(["stamp_ms", "bytes"])
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
    await tables.deleteFrom("log_entries").where("stamp_ms", "<=", lastMs).execute();
  }
  return maxBytes + Math.min(0, excess);
}

async function removeReportsBeyond({ tables }: Database): Promise<void> {
  const newestFirst = await tables
    .selectFrom("test_reports")
    .select(["sandbox", "size"])
    .orderBy("stamp_ms", "desc")
    .execute();
  let total = 0;
  const beyond = newestFirst.filter(({ size }) => (total += size) > maxReportCharacters);
  if (beyond.length === 0) return;
  await tables
    .deleteFrom("test_reports")
    .where(
      "sandbox",
      "in",
      beyond.slice(0, entriesAtOnce).map(({ sandbox }) => sandbox),
    )
    .execute();
}
