import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { identityOf } from "../sandbox/owners/process-identity.ts";
import { takeFileLock, takeFreeFileLock } from "../base/file-lock.ts";
import { PackageCache, type FillFolder } from "./package-cache.ts";
import { packageSetId, type PackageSetKey } from "./package-set.ts";

let root: string;
let now = 1_000_000_000_000;
const uid = process.getuid?.() ?? null;
const identity = identityOf(process.pid, "host");
const open = (): PackageCache => new PackageCache({ folder: path.join(root, "cache"), identity, uid, now: () => now });
const keyOf = (...requested: readonly string[]): PackageSetKey => ({
  ecosystem: "npm",
  manager: "bun",
  origin: { engine: "local", image: "host:1", onHost: false, principal: null },
  platform: "test",
  requested,
});

/** An installation of one file of that many bytes. */
const fillWith =
  (bytes: number): FillFolder =>
  async (folder) => {
    await mkdir(path.join(folder, "a"));
    await writeFile(path.join(folder, "a/index.js"), "x".repeat(bytes), { mode: 0o444 });
    return { packages: [{ name: "a", version: "1.0.0" }], files: 1, folders: 1, bytes };
  };

/** Identity of a process that has ended. */
async function deadIdentity(): Promise<string> {
  const child = fork("-e", ["0"], { execArgv: ["-e", "setTimeout(() => {}, 100000)"], stdio: "ignore" });
  const dead = JSON.stringify(identityOf(child.pid ?? 0, "host"));
  child.kill("SIGKILL");
  await once(child, "exit");
  return dead;
}

beforeEach(async () => {
  root = await mkdtemp(path.join(tmpdir(), "glovebox-cache-"));
});
afterEach(async () => {
  await open().prune(0);
  await rm(root, { recursive: true, force: true });
});

describe("PackageCache", () => {
  it("keeps a set once it is installed, read-only, for others and later", async () => {
    expect(await open().find(keyOf("a"))).toBeNull();
    await using made = await open().install(keyOf("a"), fillWith(5));
    expect((await stat(made.folder)).mode & 0o222).toBe(0);
    expect((await stat(path.join(made.folder, "a"))).mode & 0o777).toBe(0o555);
    await using found = await open().find(keyOf("a"));
    expect(found).toMatchObject({ folder: made.folder, record: { requested: ["a"], bytes: 5 } });
    expect(await open().find(keyOf("a", "b"))).toBeNull();
    expect(await open().find({ ...keyOf("a"), platform: "other" })).toBeNull();
    const { origin } = keyOf("a");
    for (const other of [{ engine: "docker" }, { image: "host:2" }, { onHost: true }, { principal: "ann" }] as const)
      expect(await open().find({ ...keyOf("a"), origin: { ...origin, ...other } })).toBeNull();
  });

  it("installs a set once, however many ask for it at a time", async () => {
    let installs = 0;
    let waited = 0;
    const slow: FillFolder = async (folder) => {
      installs++;
      await new Promise((resolve) => void setTimeout(resolve, 100));
      return fillWith(1)(folder);
    };
    const caches = Array.from({ length: 8 }, () => open());
    const leases = await Promise.all(
      caches.map((cache) => cache.install(keyOf("a"), slow, { onWait: () => waited++ })),
    );
    expect(installs).toBe(1);
    expect(waited).toBe(7);
    expect(new Set(leases.map(({ folder }) => folder)).size).toBe(1);
    await Promise.all(leases.map((lease) => lease[Symbol.asyncDispose]()));
  });

  it("is left by a failed installation as it was, and the next one works", async () => {
    const failing: FillFolder = async (folder) => {
      await fillWith(3)(folder);
      throw new Error("no network");
    };
    await expect(open().install(keyOf("a"), failing)).rejects.toThrow("no network");
    expect(await readdir(path.join(root, "cache/new"))).toEqual([]);
    expect(await open().find(keyOf("a"))).toBeNull();
    await using made = await open().install(keyOf("a"), fillWith(3));
    expect(made.record.bytes).toBe(3);
  });

  it("gives up waiting when asked to", async () => {
    const cancel = new AbortController();
    const { promise: started, resolve } = Promise.withResolvers<void>();
    const { promise: end, resolve: finish } = Promise.withResolvers<void>();
    const first = open().install(keyOf("a"), async (folder) => {
      resolve();
      await end;
      return fillWith(1)(folder);
    });
    await started;
    const second = open().install(keyOf("a"), fillWith(1), { signal: cancel.signal });
    cancel.abort();
    await expect(second).rejects.toMatchObject({ errorType: "CANCELLED" });
    finish();
    await (await first)[Symbol.asyncDispose]();
  });

  it("is pruned from the set not used for longest, and never of one in use", async () => {
    for (const name of ["a", "b", "c"]) {
      now += 1000;
      await (await open().install(keyOf(name), fillWith(10)))[Symbol.asyncDispose]();
    }
    now += 1000;
    await (await open().find(keyOf("a")))?.[Symbol.asyncDispose]();
    const names = async (): Promise<readonly string[]> =>
      (await open().list()).map(({ record }) => record.requested.join());
    expect(await names()).toEqual(["a", "c", "b"]);
    expect((await open().prune(20)).map(({ record }) => record.requested)).toEqual([["b"]]);
    const used = await open().find(keyOf("c"));
    expect((await open().list()).map(({ inUse }) => inUse)).toEqual([true, false]);
    expect((await open().prune(0)).map(({ record }) => record.requested)).toEqual([["a"]]);
    expect(await names()).toEqual(["c"]);
    await used?.[Symbol.asyncDispose]();
    await open().prune(0);
    expect(await names()).toEqual([]);
    expect(await readdir(path.join(root, "cache/old"))).toEqual([]);
  });

  it("is not held up by what died: its lock, its mark, its half of a set", async () => {
    await (await open().install(keyOf("a"), fillWith(1)))[Symbol.asyncDispose]();
    const id = (await open().list())[0]?.id ?? "";
    const dead = await deadIdentity();
    const cache = path.join(root, "cache");
    await mkdir(path.join(cache, "new", packageSetId(keyOf("b")), "files/a"), { recursive: true });
    const begunAgain = open().install(keyOf("b"), fillWith(1));
    await expect(begunAgain).resolves.toMatchObject({ record: { bytes: 1 } });
    await (await begunAgain)[Symbol.asyncDispose]();
    await mkdir(path.join(cache, "new/set-half/files"), { recursive: true });
    await mkdir(path.join(cache, "old", id));
    await writeFile(path.join(cache, "uses", `${id}.use-dead`), dead);
    await writeFile(path.join(cache, "uses", "gone.use-dead"), dead);
    expect(await open().find(keyOf("a"))).toBeNull();
    await (await open().install(keyOf("a"), () => Promise.reject(new Error("it is there"))))[Symbol.asyncDispose]();
    await mkdir(path.join(cache, "old", id));
    expect(await open().prune(0)).toHaveLength(2);
    for (const place of ["new", "old"]) expect(await readdir(path.join(cache, place))).toEqual([]);
    expect(await readdir(path.join(cache, "uses"))).toEqual([]);
    for (const lock of await readdir(path.join(cache, "locks")))
      expect((await stat(path.join(cache, "locks", lock))).size).toBe(0);
  });
});

describe("takeFileLock", () => {
  it("has one holder at a time", async () => {
    const file = path.join(root, "lock");
    let inside = 0;
    let most = 0;
    const once = async (): Promise<void> => {
      using _ = await takeFileLock({ file });
      most = Math.max(most, ++inside);
      await new Promise((resolve) => void setTimeout(resolve, 5));
      inside--;
    };
    await Promise.all(Array.from({ length: 5 }, once));
    expect(most).toBe(1);
  });

  it("is taken from what is no lock", async () => {
    const file = path.join(root, "lock");
    await writeFile(file, "not ours");
    using _ = await takeFileLock({ file });
    expect(takeFreeFileLock(file)).toBeNull();
  });
});
