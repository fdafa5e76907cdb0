import { mkdtempSync, rmSync, statSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { sql } from "kysely";
import { afterAll, describe, expect, it } from "vitest";
import { makeDatabase } from "../../src/store/database.ts";
import { applyRetention } from "../../src/store/retention.ts";
import type { LogEntry } from "../../src/telemetry/log-entry.ts";
import { storeKinds, useStorePlaces } from "../helpers/store-places.ts";
import { blocksOf, entriesOf, openStore, runEnd, runRow } from "../helpers/store-scene.ts";
import { until } from "../helpers/until.ts";

const folder = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-store-"));
const source = { sandbox: "sbx-1", principal: "ann" };
const query = { sandbox: "sbx-1", principal: "ann", offset: 0, limit: 10_000 };

afterAll(() => rmSync(folder, { recursive: true }));

describe.each(storeKinds)("the store in %s", (kind) => {
  const { place, away, back } = useStorePlaces(kind);

  it("keeps runs from their start on, their policies, entries, samples and alerts", async () => {
    const store = openStore(place());
    store.add({ kind: "run", row: runRow("run-1", "own-1"), policy: '{"engine":"local"}', labels: {} });
    store.add({ kind: "run", row: runRow("run-2", "own-1"), policy: '{"engine":"local"}', labels: {} });
    const end = runEnd("run-1");
    store.add({ kind: "run_end", row: end });
    const sample = {
      cpu_percent: 12.5,
      memory_mb: 3.5,
      network_rx_bytes: null,
      network_tx_bytes: 1,
      disk_read_bytes: 2,
    };
    const at = { sandbox: "sbx-1", principal: "ann", stamp_ms: 7 };
    store.add({ kind: "sample", row: { ...at, ...sample, disk_write_bytes: 3_000_000_000, uptime_seconds: 1.5 } });
    const alert = { kind: "cpu", value: 95.5, threshold: 90, state: "start", message: "m", suggestion: "s" };
    store.add({ kind: "alert", row: { id: "alr-1", ...at, ...alert } });
    await store.idle();
    const { tables } = await store.database();
    expect(await tables.selectFrom("runs").selectAll().orderBy("id").execute()).toMatchObject([
      { ...end, interrupted: 0 },
      { id: "run-2", ended_ms: null, outcome: null },
    ]);
    expect(await tables.selectFrom("policies").selectAll().execute()).toEqual([
      { digest: "d1", policy: '{"engine":"local"}' },
    ]);
    expect(await tables.selectFrom("metrics_samples").selectAll().execute()).toMatchObject([
      { ...at, ...sample, disk_write_bytes: 3_000_000_000 },
    ]);
    expect(await tables.selectFrom("alerts").selectAll().execute()).toMatchObject([{ ...at, ...alert }]);
    await store.close(2_000);
  });

  it("gives entries back in their order, to their principal only, after it was closed and opened again", async () => {
    const first = openStore(place());
    const odd: LogEntry = {
      ...entriesOf(source, 1, 3)[0]!,
      stream: "stderr",
      message: 'ü "\\ 🧤\t\u2400',
      partial: true,
    };
    for (const block of blocksOf([...entriesOf(source, 3), odd])) first.entries.offer(block);
    await first.close(5_000);
    const again = openStore(place());
    again.entries.offer(blocksOf(entriesOf(source, 1))[0]!);
    await again.idle();
    expect(await again.readEntries(query)).toEqual([...entriesOf(source, 3), odd]);
    expect(await again.readEntries({ ...query, stream: "stderr" })).toEqual([odd]);
    expect(await again.readEntries({ ...query, offset: 1, limit: 1 })).toEqual(entriesOf(source, 1, 1));
    expect(await again.readEntries({ ...query, principal: "bob" })).toEqual([]);
    expect(await again.hasEntries({ ...query, principal: "bob" })).toBe(false);
    expect(await again.hasEntries(query)).toBe(true);
    await again.close(2_000);
  });

  it("continues after a row that the database refuses", async () => {
    const store = openStore(place());
    await store.database();
    const [one, two, three] = entriesOf(source, 3);
    // JSON text in PostgreSQL cannot contain half a pair; SQLite writes a replacement for it.
    for (const block of blocksOf([one!, { ...two!, message: "\ud800" }, three!])) store.entries.offer(block);
    await store.idle();
    expect((await store.readEntries(query)).map(({ offset }) => offset)).toEqual(
      kind === "sqlite" ? [0, 1, 2] : [0, 2],
    );
    expect(store.state.entries).toMatchObject({ dropped: kind === "sqlite" ? 0 : 1, isFailing: false });
    await store.close(2_000);
  });

  it("counts what finds no room while the database is away, at its place, and writes the rest in order when it is back", async () => {
    const store = openStore(place());
    await away();
    const total = 60_000;
    for (const block of blocksOf(entriesOf(source, total))) store.entries.offer(block);
    await until(() => store.state.entries.isFailing);
    expect(await store.answers()).toBe(false);
    await back();
    await store.idle();
    for (const block of blocksOf(entriesOf(source, 1, total))) store.entries.offer(block);
    await store.idle();
    expect(await store.answers()).toBe(true);
    const rows: LogEntry[] = [];
    for (let offset = 0; ; offset = (rows.at(-1)?.offset ?? 0) + 1) {
      const page = await store.readEntries({ ...query, offset, limit: 100_000 });
      if (page.length === 0) break;
      rows.push(...page);
    }
    const gaps = rows.filter(({ dropped }) => dropped > 0);
    expect(gaps).toHaveLength(1);
    const [gap] = gaps;
    const kept = rows.length - 1;
    expect(kept).toBeGreaterThan(10_000);
    expect(gap?.dropped).toBe(total + 1 - kept);
    expect(gap?.offset).toBe(kept - 1);
    expect(store.state.entries.dropped).toBe(gap?.dropped);
    expect(rows.map(({ offset }) => offset)).toEqual([...Array.from({ length: kept }, (_, index) => index), total]);
    await store.close(2_000);
  });

  it("keeps every run and its end while the database is away, whatever else finds no room", async () => {
    const store = openStore(place());
    await away();
    const at = { sandbox: "sbx-1", principal: "ann", cpu_percent: null, memory_mb: null, uptime_seconds: 1 };
    const none = { network_rx_bytes: null, network_tx_bytes: null, disk_read_bytes: null, disk_write_bytes: null };
    for (let ms = 0; ms < 10_000; ms++) store.add({ kind: "sample", row: { ...at, ...none, stamp_ms: ms } });
    const { dropped } = store.state.records;
    expect(dropped).toBeGreaterThan(5_000);
    const ids = Array.from({ length: 5_000 }, (_, index) => `run-${index}`);
    const row = (id: string) => runRow(id, "own-1");
    const refused = ids.filter((id) => !store.add({ kind: "run", row: row(id), policy: "{}", labels: {} }));
    expect(refused.length).toBeGreaterThan(500);
    const taken = ids.filter((id) => !refused.includes(id));
    for (const id of taken) expect(store.add({ kind: "run_end", row: runEnd(id) })).toBe(true);
    await back();
    await store.idle();
    expect(store.state.records).toMatchObject({ dropped: dropped + refused.length, isFailing: false });
    const { tables } = await store.database();
    const ended = await tables.selectFrom("runs").select("id").where("ended_ms", "is not", null).execute();
    expect(ended).toHaveLength(taken.length);
    await store.close(2_000);
  });

  it("marks its own runs that have no end when it is closed", async () => {
    const store = openStore(place());
    store.add({ kind: "run", row: runRow("run-1", "own-1"), policy: "{}", labels: {} });
    store.add({ kind: "run", row: runRow("run-2", "own-other"), policy: "{}", labels: {} });
    await store.close(5_000);
    const next = openStore(place());
    const { tables } = await next.database();
    expect(await tables.selectFrom("runs").select(["outcome", "interrupted"]).orderBy("id").execute()).toEqual([
      { outcome: "sandbox_lost", interrupted: 1 },
      { outcome: null, interrupted: 0 },
    ]);
    await next.close(2_000);
  });

  it("marks the runs of a server that is gone, and of no other", async () => {
    const isAlive = (identity: unknown): boolean | null => (identity as { readonly alive: boolean | null }).alive;
    const openAs = (id: string, alive: boolean | null) =>
      openStore(place(), { server: { id, identity: { alive }, isAlive } });
    const servers = [];
    for (const [id, alive] of [
      ["own-gone", false],
      ["own-living", true],
      ["own-elsewhere", null],
    ] as const) {
      const server = openAs(id, alive);
      server.add({ kind: "run", row: runRow(`run-of-${id}`, id), policy: "{}", labels: {} });
      await server.idle();
      servers.push(server);
    }
    const next = openAs("own-next", true);
    const { tables } = await next.database();
    expect(await tables.selectFrom("runs").select(["id", "outcome", "interrupted"]).orderBy("id").execute()).toEqual([
      { id: "run-of-own-elsewhere", outcome: null, interrupted: 0 },
      { id: "run-of-own-gone", outcome: "sandbox_lost", interrupted: 1 },
      { id: "run-of-own-living", outcome: null, interrupted: 0 },
    ]);
    for (const store of [...servers, next]) await store.close(2_000);
  });

  it("removes what is too old, and the oldest entries beyond its size", async () => {
    const store = openStore(place());
    for (const block of blocksOf(entriesOf(source, 1_000))) store.entries.offer(block);
    store.add({ kind: "run", row: { ...runRow("run-old", "own-1"), ended_ms: 10 }, policy: "{}", labels: {} });
    store.add({ kind: "run", row: runRow("run-open", "own-1"), policy: "{}", labels: {} });
    await store.idle();
    const database = await store.database();
    const [{ bytes } = { bytes: 0 }] = await database.tables
      .selectFrom("log_entries")
      .select("bytes")
      .limit(1)
      .execute();
    // The entries have times from 1,000 to 1,999 ms.
    await applyRetention(database, { maxAgeMs: 500, maxBytes: 1_000_000 }, 2_000);
    expect((await store.readEntries(query)).map(({ offset }) => offset)).toEqual(offsets(500, 1_000));
    expect(await database.tables.selectFrom("runs").select("id").execute()).toEqual([{ id: "run-open" }]);
    await applyRetention(database, { maxAgeMs: 500, maxBytes: 101 * bytes }, 2_000);
    const left = await store.readEntries(query);
    expect(left.length).toBeGreaterThan(80);
    expect(left.length).toBeLessThan(102);
    expect(left.at(-1)?.offset).toBe(999);
    await store.close(2_000);
  });

  it("holds one run's output to its cap and counts the rest", async () => {
    const store = openStore(place(), { maxRunBytes: 20_000 });
    const entries = entriesOf(source, 500);
    for (const block of blocksOf(entries)) store.entries.offer(block);
    store.entries.beginRun(source);
    for (const block of blocksOf(entriesOf(source, 2, 500))) store.entries.offer(block);
    await store.idle();
    const rows = await store.readEntries(query);
    const gap = rows.find(({ dropped }) => dropped > 0);
    expect(rows.length - 1 + (gap?.dropped ?? 0)).toBe(502);
    expect(rows.length).toBeLessThan(150);
    expect(rows.slice(-2).map(({ offset }) => offset)).toEqual([500, 501]);
    await store.close(2_000);
  });
});

it("gives what SQLite no longer needs back to the file system", async () => {
  const file = path.join(folder, "large.db");
  const store = openStore({ kind: "sqlite", file });
  for (const block of blocksOf(entriesOf(source, 20_000))) store.entries.offer(block);
  await store.idle();
  const database = await store.database();
  const sizes = (): number => ["", "-wal"].reduce((sum, end) => sum + statSync(`${file}${end}`).size, 0);
  const before = sizes();
  await applyRetention(database, { maxAgeMs: 1_000_000, maxBytes: 100_000 }, 2_000);
  await sql`pragma wal_checkpoint(restart)`.execute(database.tables);
  store.entries.offer(blocksOf(entriesOf(source, 1, 20_000))[0]!);
  await store.idle();
  expect(statSync(file).size).toBeLessThan(before / 5);
  expect(statSync(`${file}-wal`).size).toBeLessThan(5_000_000);
  await store.close(2_000);
});

it("keeps the file of SQLite, and those beside it, to this user", async () => {
  const file = path.join(folder, "own.db");
  const store = openStore({ kind: "sqlite", file });
  await store.database();
  expect(["", "-wal", "-shm"].map((end) => statSync(`${file}${end}`).mode & 0o777)).toEqual([0o600, 0o600, 0o600]);
  await store.close(2_000);
});

describe("a connection to PostgreSQL", () => {
  const { place, away, back } = useStorePlaces("postgres");

  it("that breaks while it is lent fails the next request on it, and nothing else", async () => {
    const { tables } = makeDatabase(place(), () => undefined);
    const ask = (connection: typeof tables) => sql`select 1`.execute(connection);
    await tables.connection().execute(async (connection) => {
      await ask(connection);
      // If nothing listened for the end of the connection, its error would end this process.
      await away();
      await expect(ask(connection)).rejects.toThrow(/connection|terminated/i);
    });
    await back();
    expect((await ask(tables)).rows).toHaveLength(1);
    await tables.destroy();
  });
});

function offsets(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index);
}
