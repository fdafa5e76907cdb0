import { statfs } from "node:fs/promises";
import path from "node:path";
import { sql } from "kysely";
import { mebibyte } from "../base/bytes.ts";
import type { Database, StorePlace } from "./database.ts";

/** What the store keeps. */
export interface RetentionLimits {
  /** Whatever is older is removed. */
  readonly maxAgeMs: number;
  /** Most bytes of log entries; beyond it whoever has most loses the oldest. */
  readonly maxBytes: number;
}

/** Characters of all reports of tests; beyond it whoever has most loses the oldest. */
const maxReportCharacters = 128 * mebibyte;
/**
 * Rows of the other tables, some hundred bytes each: beyond it whoever has most loses the oldest. At one sample a second
 * ten sandboxes take a day and a half for two million.
 */
const rowLimits = [
  { name: "runs", order: "started_ms", max: 500_000 },
  { name: "alerts", order: "stamp_ms", max: 200_000 },
  { name: "metrics_samples", order: "stamp_ms", max: 2_000_000 },
] as const;
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
 * Removes what is too old, and of log entries, reports of tests and rows beyond their limits the oldest of those who have most;
 * resolves to the bytes of log entries that are left. Each statement takes a turn of its own: others write in between.
 */
export async function applyRetention(database: Database, limits: RetentionLimits, nowMs: number): Promise<number> {
  await removeOlderThan(database, nowMs - limits.maxAgeMs);
  const leftBytes = await removeBeyond(database, limits.maxBytes);
  await removeReportsBeyond(database);
  await removeRowsBeyond(database);
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
  await tables.deleteFrom("runs").where("ended_ms", "<", oldestMs).execute();
  await tables
    .deleteFrom("policies")
    .where("digest", "not in", (query) => query.selectFrom("runs").select("policy_digest"))
    .execute();
}

/**
 * Removes the oldest entries of whoever has most, until all are within the limit: what one principal prints removes nothing of
 * another that has less. Resolves to about the bytes that are left.
 */
async function removeBeyond({ tables }: Database, maxBytes: number): Promise<number> {
  const { total: all } = await tables
    .selectFrom("log_entries")
    .select((row) => row.fn.coalesce(row.fn.sum<number>("bytes"), sql<number>`0`).as("total"))
    .executeTakeFirstOrThrow();
  if (all <= maxBytes) return all;
  const totals = await tables
    .selectFrom("log_entries")
    .select((row) => ["principal", row.fn.sum<number>("bytes").as("total")])
    .groupBy("principal")
    .execute();
  const excess = excessOf(totals, maxBytes);
  let left = totals.reduce((sum, { total }) => sum + total, 0);
  for (const [principal, most] of excess) {
    let more = most;
    while (more > 0) {
      const oldest = await tables
        .selectFrom("log_entries")
        .select(["stamp_ms", "bytes"])
        .where("principal", "=", principal)
        .orderBy("stamp_ms")
        .limit(entriesAtOnce)
        .execute();
      let lastMs = -1;
      for (const { stamp_ms: stampMs, bytes } of oldest) {
        if (more <= 0 && stampMs > lastMs) break;
        more -= bytes;
        left -= bytes;
        lastMs = stampMs;
      }
      if (lastMs < 0) break;
      await tables
        .deleteFrom("log_entries")
        .where("principal", "=", principal)
        .where("stamp_ms", "<=", lastMs)
        .execute();
    }
  }
  return left;
}

async function removeReportsBeyond({ tables }: Database): Promise<void> {
  const { total: all } = await tables
    .selectFrom("test_reports")
    .select((row) => row.fn.coalesce(row.fn.sum<number>("size"), sql<number>`0`).as("total"))
    .executeTakeFirstOrThrow();
  if (all <= maxReportCharacters) return;
  const newestFirst = await tables
    .selectFrom("test_reports")
    .select(["sandbox", "principal", "size"])
    .orderBy("stamp_ms", "desc")
    .execute();
  const totals = new Map<string, number>();
  for (const { principal, size } of newestFirst) totals.set(principal, (totals.get(principal) ?? 0) + size);
  const excess = excessOf(
    [...totals].map(([principal, total]) => ({ principal, total })),
    maxReportCharacters,
  );
  const beyond = newestFirst.toReversed().filter(({ principal, size }) => {
    const more = excess.get(principal) ?? 0;
    excess.set(principal, more - size);
    return more > 0;
  });
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

/** Removes the oldest rows of whoever has most of a table that has too many. */
async function removeRowsBeyond({ tables }: Database): Promise<void> {
  for (const { name, order, max } of rowLimits) {
    const { all } = await tables
      .selectFrom(name)
      .select((row) => row.fn.countAll<number>().as("all"))
      .executeTakeFirstOrThrow();
    if (all <= max) continue;
    const totals = await tables
      .selectFrom(name)
      .select((row) => ["principal", row.fn.countAll<number>().as("total")])
      .groupBy("principal")
      .execute();
    for (const [principal, more] of excessOf(totals, max)) {
      const row = await tables
        .selectFrom(name)
        .select(order)
        .where("principal", "=", principal)
        .orderBy(order)
        .offset(more)
        .limit(1)
        .executeTakeFirst();
      const before = row?.[order];
      if (typeof before !== "number") continue;
      const older = tables.deleteFrom(name).where("principal", "=", principal).where(order, "<", before);
      // What is running has an end to come.
      await (name === "runs" ? older.where(sql<boolean>`ended_ms is not null`) : older).execute();
    }
  }
  await tables
    .deleteFrom("run_labels")
    .where("run", "not in", (query) => query.selectFrom("runs").select("id"))
    .execute();
}

/** How much each principal is to give up: those who have most, down to a level at which all fit. */
export function excessOf(
  totals: readonly { readonly principal: string; readonly total: number }[],
  max: number,
): Map<string, number> {
  const descending = totals.toSorted((one, other) => other.total - one.total);
  let rest = descending.reduce((sum, { total }) => sum + total, 0);
  if (rest <= max) return new Map();
  // The level at which those above it, each cut to it, and the rest come to the maximum.
  let level = 0;
  for (const [index, { total }] of descending.entries()) {
    rest -= total;
    level = Math.max(0, Math.floor((max - rest) / (index + 1)));
    if (level >= (descending[index + 1]?.total ?? 0)) break;
  }
  return new Map(
    descending.flatMap(({ principal, total }) => (total > level ? [[principal, total - level] as const] : [])),
  );
}
