import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import pino from "pino";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { LogEntry } from "../../src/telemetry/log-entry.ts";
import { settlesWithin } from "../../src/base/abort.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { serveGlovebox, type ServedGlovebox } from "../helpers/served-glovebox.ts";
import { blocksOf, entriesOf, openStore, runEnd, runRow } from "../helpers/store-scene.ts";
import { until } from "../helpers/until.ts";

let folder: string;
beforeEach(() => (folder = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-disk-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const source = { sandbox: "sbx-1", principal: "ann" };
const query = { sandbox: "sbx-1", principal: "ann", offset: 0, limit: 100_000 };
const program = { language: "python", code: "print(6 * 7)" };
const run = async (server: ServedGlovebox): Promise<unknown> =>
  (await server.call("POST", "/api/sandbox/execute", program)).body;
const ready = async (server: ServedGlovebox): Promise<unknown> => (await server.call("GET", "/readyz")).body;
const metrics = async ({ url, token }: ServedGlovebox): Promise<string> =>
  (await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } })).text();

describe("a small disk under the store", () => {
  let disk: string;
  let isMounted = false;
  beforeEach((context) => {
    disk = path.join(folder, "disk");
    mkdirSync(disk, { mode: 0o700 });
    try {
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=8m,mode=700", "tmpfs", disk], { stdio: "pipe" });
      isMounted = true;
    } catch (error) {
      context.skip(`no small disk can be mounted: ${String(error)}`);
    }
  });
  afterEach(() => {
    // Lazily, since a server that a failed test left behind may still have it open.
    if (isMounted) execFileSync("umount", ["--lazy", disk]);
    isMounted = false;
  });
  const fill = (): void => {
    for (const size of [65_536, 512]) {
      try {
        for (;;) writeFileSync(path.join(disk, "ballast"), Buffer.alloc(size), { flag: "a" });
      } catch (error) {
        expect(error).toMatchObject({ code: "ENOSPC" });
      }
    }
  };
  const makeRoom = (): void => rmSync(path.join(disk, "ballast"));

  it("when full loses nothing uncounted, and is written again when there is room", async () => {
    const lines: { readonly msg: string; readonly dropped?: number }[] = [];
    const logger = pino({ level: "warn" }, { write: (line: string) => void lines.push(JSON.parse(line) as never) });
    const store = openStore({ kind: "sqlite", file: path.join(disk, "store.db") }, { logger });
    for (const block of blocksOf(entriesOf(source, 10))) store.entries.offer(block);
    await store.idle();
    expect(await store.answers()).toBe(true);
    fill();
    const total = 60_000;
    for (const block of blocksOf(entriesOf(source, total, 10))) store.entries.offer(block);
    await until(() => store.state.entries.isFailing);
    expect(await store.answers()).toBe(false);
    expect(lines).toContainEqual(expect.objectContaining({ msg: expect.stringContaining("cannot be written now") }));
    makeRoom();
    await store.idle();
    for (const block of blocksOf(entriesOf(source, 1, total + 10))) store.entries.offer(block);
    await store.idle();
    expect(await store.answers()).toBe(true);
    const rows: LogEntry[] = [];
    // A page holds a few MiB.
    for (let offset = 0; ;) {
      const page = await store.readEntries({ ...query, offset });
      const last = page.at(-1);
      if (last === undefined) break;
      rows.push(...page);
      offset = last.offset + 1;
    }
    const [gap, ...others] = rows.filter(({ dropped }) => dropped > 0);
    expect(others).toEqual([]);
    const kept = rows.length - 1;
    expect(gap).toMatchObject({ offset: kept - 1, dropped: total + 11 - kept });
    expect(store.state.entries.dropped).toBe(gap?.dropped);
    expect(lines.at(-1)).toMatchObject({ msg: expect.stringContaining("written again") });
    await store.close(2_000);
  });

  it("keeps room for runs whatever floods write", async () => {
    execFileSync("mount", ["-o", "remount,size=24m", disk]);
    const store = openStore({ kind: "sqlite", file: path.join(disk, "store.db") });
    store.add({ kind: "run", row: runRow("run-1", "own-1"), policy: "{}", labels: {} });
    const total = 60_000;
    for (let from = 0; from < total; from += 1_000) {
      const entries = entriesOf(source, 1_000, from).map((entry) => ({ ...entry, message: "flood".repeat(200) }));
      for (const block of blocksOf(entries)) store.entries.offer(block);
      expect(await settlesWithin(store.entries.idle(), 10_000)).toBe(true);
    }
    store.add({ kind: "run_end", row: runEnd("run-1") });
    await store.idle();
    expect(await store.answers()).toBe(true);
    expect(store.state).toMatchObject({ entries: { dropped: 0 }, records: { dropped: 0 } });
    const { tables } = await store.database();
    expect(await tables.selectFrom("runs").select("outcome").execute()).toEqual([{ outcome: "completed" }]);
    expect(await store.lastEntry(query)).toMatchObject({ offset: total - 1 });
    await store.close(2_000);
  });

  it("when read-only is tried again until it is not", async () => {
    const place = { kind: "sqlite", file: path.join(disk, "store.db") } as const;
    const first = openStore(place);
    await first.database();
    await first.close(2_000);
    execFileSync("mount", ["-o", "remount,ro", disk]);
    const store = openStore(place);
    for (const block of blocksOf(entriesOf(source, 3))) store.entries.offer(block);
    await until(() => store.state.entries.isFailing);
    await expect(store.readEntries(query)).rejects.toMatchObject({ errorType: "INTERNAL" });
    execFileSync("mount", ["-o", "remount,rw", disk]);
    await store.idle();
    expect(await store.readEntries(query)).toEqual(entriesOf(source, 3));
    await store.close(2_000);
  });

  describe("of a server", () => {
    useGlovebox("local");

    it("when full is reported by /readyz and /metrics while runs go on", async () => {
      await using server = await serveGlovebox({ GLOVEBOX_STORE_FILE: path.join(disk, "store.db") });
      await until(async () => (await server.call("GET", "/readyz")).status === 200);
      fill();
      expect(await run(server)).toMatchObject({ outcome: "completed", stdout: "42\n" });
      await until(async () => (await server.call("GET", "/readyz")).status === 503);
      expect(await ready(server)).toMatchObject({ status: "not_ready", checks: { engine: "ok", store: "failed" } });
      expect(await metrics(server)).toMatch(/^glovebox_sink_failing\{sink="store_(entries|records)"\} 1$/m);
      expect(await run(server)).toMatchObject({ outcome: "completed", stdout: "42\n" });
      makeRoom();
      await until(async () => (await server.call("GET", "/readyz")).status === 200);
      const { body } = await server.call("GET", "/api/sandbox?state=ended");
      expect((body as { readonly sandboxes: unknown[] }).sandboxes).toHaveLength(2);
      const page = await metrics(server);
      for (const sink of ["store_entries", "store_records"]) {
        expect(page).toContain(`glovebox_sink_failing{sink="${sink}"} 0`);
        expect(page).toContain(`glovebox_sink_dropped_total{sink="${sink}"} 0`);
        expect(page).toMatch(new RegExp(`^glovebox_sink_written_total\\{sink="${sink}"\\} [1-9]`, "m"));
      }
    });
  });
});

describe("a file that is not a database", () => {
  useGlovebox("local");

  it("is left unchanged: the server runs programs, and says that it cannot store them", async () => {
    const file = path.join(folder, "store.db");
    const garbage = "this is somebody's diary, and no database\n".repeat(200);
    writeFileSync(file, garbage);
    await using server = await serveGlovebox({ GLOVEBOX_STORE_FILE: file });
    expect(await run(server)).toMatchObject({ outcome: "completed", stdout: "42\n" });
    expect(await ready(server)).toMatchObject({ status: "not_ready", checks: { engine: "ok", store: "failed" } });
    const { status, body } = await server.call("GET", "/api/sandbox?state=ended");
    expect({ status, body }).toMatchObject({
      status: 500,
      body: { error_type: "INTERNAL", message: "The store of this server does not answer." },
    });
    expect(readFileSync(file, "utf8") === garbage).toBe(true);
  });
});
