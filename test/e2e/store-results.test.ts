import { sql, type Kysely } from "kysely";
import { Migrator } from "kysely/migration";
import { describe, expect, it } from "vitest";
import { makeDatabase, migrations } from "../../src/store/database.ts";
import { applyRetention } from "../../src/store/retention.ts";
import type { RunRow } from "../../src/store/tables.ts";
import { TestReports } from "../../src/store/test-reports.ts";
import { storeKinds, useStorePlaces } from "../helpers/store-places.ts";
import { blocksOf, entriesOf, openStore, runRow } from "../helpers/store-scene.ts";

const source = { sandbox: "sbx-1", principal: "ann" };
const ended = { ended_ms: 9, outcome: "completed", exit_code: 0, duration_ms: 4, error_type: null } as const;
const first = "001-first-tables";

describe.each(storeKinds)("results in the store in %s", (kind) => {
  const { place } = useStorePlaces(kind);

  /** A database as left by the first version, with an ended run and an open one. */
  async function withFirstTables(more?: (tables: Kysely<never>) => Promise<unknown>): Promise<void> {
    const { tables } = makeDatabase(place(), () => undefined);
    const provider = { getMigrations: async () => ({ [first]: migrations[first]! }) };
    const { error } = await new Migrator({ db: tables, provider }).migrateToLatest();
    expect(error).toBeUndefined();
    for (const [id, end] of [
      ["run-old", "7"],
      ["run-open", "null"],
    ] as const) {
      await sql
        .raw(
          `insert into runs (id, server, principal, kind, engine, sandbox, policy_digest, started_ms, ended_ms, interrupted)
           values ('${id}', 'own-1', 'ann', 'execute', 'local', 'sbx-of-${id}', 'd1', 5, ${end}, 0)`,
        )
        .execute(tables);
    }
    await more?.(tables as unknown as Kysely<never>);
    await tables.destroy();
  }

  it("brings a database of the first version up to date, with the runs that are in it", async () => {
    await withFirstTables();
    // Two servers may start at the same time.
    const stores = [openStore(place()), openStore(place(), { server: { ...server, id: "own-2" } })] as const;
    const [store] = stores;
    store.add({ kind: "run", row: runRow("run-new", "own-1"), policy: "{}", labels: { job: "1" } });
    store.add({ kind: "run_end", row: { id: "run-new", ...ended, log_to: 3 } });
    store.add({ kind: "run_end", row: { id: "run-open", ...ended, log_to: null } });
    await store.idle();
    const runs = await stores[1].runs.listEnded({ principal: "ann", labels: [], limit: 10 });
    expect(runs).toMatchObject([
      { id: "run-new", labels: { job: "1" }, log_from: 0, log_to: 3 },
      { id: "run-old", labels: {}, started_ms: 5, ended_ms: 7, log_from: null, forgotten: 0 },
      { id: "run-open", outcome: "completed" },
    ]);
    expect(await store.runs.tails(runs[1]!)).toEqual({ stdout: "", stderr: "" });
    expect(stores.map(({ state }) => state.records.isFailing)).toEqual([false, false]);
    for (const each of stores) await each.close(2_000);
  });

  it("leaves the tables as they were when they cannot be brought up to date, and tries again", async () => {
    await withFirstTables((tables) => sql.raw("create table run_labels (obstacle int)").execute(tables));
    const store = openStore(place());
    await expect(store.database()).rejects.toThrow(/run_labels/);
    const { tables } = makeDatabase(place(), () => undefined);
    expect(Object.keys((await tables.selectFrom("runs").selectAll().execute())[0] ?? {})).not.toContain("log_from");
    await sql.raw("drop table run_labels").execute(tables);
    await tables.destroy();
    expect(await store.runs.listEnded({ principal: "ann", labels: [], limit: 10 })).toMatchObject([{ id: "run-old" }]);
    await store.close(2_000);
  });

  it("lists a principal's ended runs by their labels, the newest first, and as many as were asked for", async () => {
    const store = openStore(place());
    const runs: readonly (readonly [id: string, labels: Record<string, string>, over?: Partial<RunRow>])[] = [
      ["run-1", { job: "17", user: "a=b" }],
      ["run-2", { job: "17" }],
      ["run-3", { job: "18" }],
      ["run-4", { job: "17" }, { principal: "bob" }],
      ["run-5", { job: "17" }, { ended_ms: null }],
      ["run-6", { JOB: "17", "17": "job" }],
    ];
    for (const [index, [id, labels, over]] of runs.entries()) {
      const row = { ...runRow(id, "own-1"), ...ended, started_ms: index, ...over };
      store.add({ kind: "run", row, policy: "{}", labels });
    }
    await store.idle();
    const ids = async (labels: readonly (readonly [string, string])[], limit = 10): Promise<readonly string[]> =>
      (await store.runs.listEnded({ principal: "ann", labels, limit })).map(({ id }) => id);
    expect(await ids([])).toEqual(["run-6", "run-3", "run-2", "run-1"]);
    expect(await ids([], 2)).toEqual(["run-6", "run-3"]);
    expect(await ids([["job", "17"]])).toEqual(["run-2", "run-1"]);
    expect(
      await ids([
        ["job", "17"],
        ["user", "a=b"],
      ]),
    ).toEqual(["run-1"]);
    expect(await ids([["job", "1"]])).toEqual([]);
    const database = await store.database();
    await applyRetention(database, { maxAgeMs: 1, maxBytes: 1_000_000 }, 1_000);
    expect(await database.tables.selectFrom("run_labels").select("run").execute()).toEqual([{ run: "run-5" }]);
    await store.close(2_000);
  });

  it("keeps reports of tests for their principal, until their run is forgotten, and the newest of too many", async () => {
    const store = openStore(place());
    let now = 0;
    const reports = new TestReports(store, () => (now += 10));
    reports.keep({ id: "sbx-1", principal: "ann" }, Buffer.from([0x1f, 0x8b, 0]));
    reports.keep({ id: "sbx-2", principal: "ann" }, Buffer.from("second"));
    const find = async (id: string, principal = "ann") => (await reports.find({ id, principal }))?.toString();
    expect(await reports.find({ id: "sbx-1", principal: "ann" })).toEqual(Buffer.from([0x1f, 0x8b, 0]));
    expect([await find("sbx-2"), await find("sbx-2", "bob"), await find("sbx-\0")]).toEqual([
      "second",
      undefined,
      undefined,
    ]);
    store.runs.forget({ id: "sbx-1", principal: "bob" });
    store.runs.forget({ id: "sbx-2", principal: "ann" });
    expect([await find("sbx-1"), await find("sbx-2")]).toEqual([expect.any(String), undefined]);
    const database = await store.database();
    const large = { principal: "ann", report: "", size: 60_000_000 };
    const rows = ["oldest", "old", "newer"].map((sandbox, index) => ({ ...large, sandbox, stamp_ms: index }));
    await database.tables.insertInto("test_reports").values(rows).execute();
    await applyRetention(database, { maxAgeMs: 1_000, maxBytes: 1_000_000 }, 900);
    const left = await database.tables.selectFrom("test_reports").select("sandbox").orderBy("sandbox").execute();
    expect(left.map(({ sandbox }) => sandbox)).toEqual(["newer", "old", "sbx-1"]);
    await applyRetention(database, { maxAgeMs: 1, maxBytes: 1_000_000 }, 1_000);
    expect(await database.tables.selectFrom("test_reports").selectAll().execute()).toEqual([]);
    await store.close(2_000);
  });

  it("removes log entries, samples and runs of who has most, and nothing of another that has less", async () => {
    const store = openStore(place());
    const database = await store.database();
    const entry = { stream: "stdout", message: "x", partial: 0, dropped: 0, stamp_ms: 5 };
    const entries = [
      { ...entry, sandbox: "sbx-ann", position: 0, principal: "ann", stamp_ms: 1, bytes: 400 },
      ...Array.from({ length: 9 }, (_, position) => ({
        ...entry,
        ...{ sandbox: "sbx-eve", position, principal: "eve", stamp_ms: 10 + position, bytes: 300 },
      })),
    ];
    await database.tables.insertInto("log_entries").values(entries).execute();
    expect(await applyRetention(database, { maxAgeMs: 1_000, maxBytes: 1_000 }, 100)).toBe(1_000);
    const left = await database.tables
      .selectFrom("log_entries")
      .select(["principal", "position"])
      .orderBy("stamp_ms")
      .execute();
    expect(left.map(({ principal, position }) => `${principal} ${position}`)).toEqual(["ann 0", "eve 7", "eve 8"]);
    await store.close(2_000);
  });

  it("reads so many bytes of a log at once, and for each principal one page after another", async () => {
    const store = openStore(place());
    const { tables } = await store.database();
    const row = { sandbox: "sbx-1", principal: "eve", stamp_ms: 1, stream: "stdout", partial: 0, dropped: 0 };
    const rows = Array.from({ length: 9 }, (_, position) => ({ ...row, position, message: "x", bytes: 1_000_000 }));
    await tables.insertInto("log_entries").values(rows).execute();
    const query = { sandbox: "sbx-1", principal: "eve", limit: 100 };
    const positions = async (offset: number) =>
      (await store.readEntries({ ...query, offset })).map((each) => each.offset);
    expect([await positions(0), await positions(4), await positions(8)]).toEqual([[0, 1, 2, 3], [4, 5, 6, 7], [8]]);
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    const order: string[] = [];
    const first = store.read("eve", () => held.then(() => order.push("first")));
    const second = store.read("eve", async () => order.push("second"));
    await store.read("ann", async () => order.push("another's"));
    expect(order).toEqual(["another's"]);
    const more = Array.from({ length: 99 }, () => store.read("eve", async () => order.push("more")));
    const tooMany = store.read("eve", async () => order.push("one too many")).catch((error: unknown) => error);
    await store.read("ann", async () => order.push("another's"));
    release();
    await Promise.all([first, second, ...more]);
    expect(await tooMany).toMatchObject({ errorType: "CAPACITY", context: { limit: 100, retry_after_seconds: 5 } });
    expect(order.slice(0, 5)).toEqual(["another's", "another's", "first", "second", "more"]);
    await store.close(2_000);
  });

  it("finds a run by its id or its own sandbox's, for its principal only, until it is forgotten", async () => {
    const store = openStore(place());
    const row = { ...runRow("run-1", "own-1"), ...ended };
    store.add({ kind: "run", row, policy: "{}", labels: {} });
    store.add({
      kind: "run",
      row: { ...row, id: "run-2", kind: "session", sandbox: "sbx-2" },
      policy: "{}",
      labels: {},
    });
    store.add({ kind: "run", row: { ...row, id: "run-3", kind: "test", sandbox: "sbx-3" }, policy: "{}", labels: {} });
    const find = async (id: string, principal = "ann") => (await store.runs.find({ id, principal }))?.toldId;
    expect([await find("run-1"), await find("sbx-1"), await find("run-2")]).toEqual(["sbx-1", "sbx-1", "run-2"]);
    expect(await find("sbx-3")).toBe("sbx-3");
    store.runs.forget({ id: "sbx-3", principal: "ann" });
    expect([await find("sbx-2"), await find("run-1", "bob"), await find("run-\0")]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    store.runs.forget({ id: "sbx-1", principal: "bob" });
    expect(await find("sbx-1")).toBe("sbx-1");
    store.runs.forget({ id: "sbx-1", principal: "ann" });
    expect([await find("sbx-1"), await find("run-1"), await find("run-2")]).toEqual([undefined, undefined, "run-2"]);
    expect(await store.runs.listEnded({ principal: "ann", labels: [], limit: 10 })).toMatchObject([{ id: "run-2" }]);
    await store.close(2_000);
  });

  it("has the end of a run's own output, whole characters and at most 4096 bytes", async () => {
    const store = openStore(place());
    const [before, line, cut, rest, after] = entriesOf(source, 5);
    const long = `${"x".repeat(4_000)}ü${"y".repeat(4_095)}`;
    const output = [before!, line!, { ...cut!, message: long, partial: true }, rest!, after!];
    for (const block of blocksOf(output)) store.entries.offer(block);
    const errors = entriesOf(source, 200, 5).map((entry) => ({ ...entry, stream: "stderr" as const, message: "é" }));
    for (const block of blocksOf(errors)) store.entries.offer(block);
    const row = { ...runRow("run-1", "own-1"), ...ended };
    store.add({ kind: "run", row: { ...row, log_from: 1, log_to: 3 }, policy: "{}", labels: {} });
    store.add({ kind: "run", row: { ...row, id: "run-2", log_from: 3, log_to: 4 }, policy: "{}", labels: {} });
    store.add({ kind: "run", row: { ...row, id: "run-3", log_from: 4 }, policy: "{}", labels: {} });
    await store.idle();
    const tails = async (id: string) => store.runs.tails((await store.runs.find({ id, principal: "ann" }))!);
    expect((await tails("run-1")).stdout === "y".repeat(4_095)).toBe(true);
    expect(await tails("run-2")).toEqual({ stdout: "line 3\n", stderr: "" });
    expect(await tails("run-3")).toEqual({ stdout: "line 4\n", stderr: "é\n".repeat(200) });
    await store.close(2_000);
  });
});

const server = { identity: { pid: 1 }, isAlive: () => null } as const;
