import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { buffer } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { OwnerState } from "./owners/leases.ts";
import { WorkArchives, type WorkArchive } from "./work-archives.ts";

let folder: string;
let archives: WorkArchives;
/** Of the disk without the archives; the test's disk has no reserve. */
let freeBytes = 1_000;
const warned: unknown[] = [];
const states: Readonly<Record<string, OwnerState>> = { me: "living", other: "living", dead: "expired" };
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "glovebox-archives-"));
  const leases = { hold: async () => undefined, stateOf: async (owner: string) => states[owner] ?? "unknown" };
  archives = new WorkArchives({
    ...{ folder, uid: process.getuid?.() ?? null, owner: "me", leases, maxOfOne: 10 },
    logger: { warn: (facts) => void warned.push(facts) },
    readRoom: async () => ({ freeBytes: freeBytes - (await usedBytes()), totalBytes: 0 }),
  });
});
afterEach(async () => {
  freeBytes = 1_000;
  warned.length = 0;
  await rm(folder, { recursive: true, force: true });
});

async function usedBytes(): Promise<number> {
  const names = await readdir(path.join(folder, "me"));
  const sizes = await Promise.all(names.map(async (name) => (await stat(path.join(folder, "me", name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function* chunks(...texts: readonly string[]): AsyncGenerator<Uint8Array, void, undefined> {
  for (const text of texts) yield Buffer.from(text);
}

const save = (...texts: readonly string[]): Promise<WorkArchive> => saveOf("a", ...texts);
const saveOf = (principal: string, ...texts: readonly string[]): Promise<WorkArchive> =>
  archives.save(chunks(...texts), { principal, maxBytes: 100 });
const gaveWay = (...all: readonly WorkArchive[]): readonly boolean[] => all.map((archive) => archive.gaveWay);

describe("WorkArchives", () => {
  it("gives back what it was given, to its user alone, until it is disposed of", async () => {
    const archive = await save("one ", "two");
    let read = "";
    for await (const bytes of archive.read()) read += Buffer.from(bytes).toString();
    expect(read).toBe("one two");
    const [name = ""] = await readdir(path.join(folder, "me"));
    expect((await stat(path.join(folder, "me", name))).mode & 0o777).toBe(0o600);
    await archive[Symbol.asyncDispose]();
    expect(await readdir(path.join(folder, "me"))).toEqual([]);
  });

  it("leaves nothing of what is too large or breaks off", async () => {
    await expect(archives.save(chunks("one", "two"), { principal: "a", maxBytes: 5 })).rejects.toMatchObject({
      errorType: "CAPACITY",
    });
    const broken = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
      yield* chunks("one");
      throw new Error("broken");
    };
    await expect(archives.save(broken(), { principal: "a", maxBytes: 100 })).rejects.toThrow("broken");
    expect(await readdir(path.join(folder, "me"))).toEqual([]);
  });

  it("fails whoever reads one that is gone, and not the server before it is read", async () => {
    const archive = await save("x");
    await archive[Symbol.asyncDispose]();
    const uncaught: unknown[] = [];
    const note = (error: unknown): void => void uncaught.push(error);
    process.on("uncaughtException", note);
    const unread = archive.read();
    // Its reader comes when a program is ready for it.
    await readdir(folder).then(() => readdir(folder));
    await new Promise((resolve) => setImmediate(resolve));
    process.off("uncaughtException", note);
    expect(uncaught).toEqual([]);
    await expect(buffer(unread)).rejects.toMatchObject({ errorType: "CAPACITY" });
  });

  it("forgets what servers that are gone have left, and its own at the end", async () => {
    for (const owner of ["other", "dead", "nobody"]) {
      await mkdir(path.join(folder, owner));
      await writeFile(path.join(folder, owner, "1.tar"), "x");
    }
    await save("x");
    await archives.forgetLeft();
    expect((await readdir(folder)).toSorted()).toEqual(["me", "other"]);
    await archives.close();
    expect(await readdir(folder)).toEqual(["other"]);
  });

  it("lose a principal's own oldest when it has more than its share, and nobody else's", async () => {
    const other = await saveOf("other", "12345");
    const [first, second] = [await save("1234"), await save("12345")];
    const third = await save("12", "34");
    expect(gaveWay(other, first, second, third)).toEqual([false, true, false, false]);
    await expect(buffer(first.read())).rejects.toMatchObject({ errorType: "CAPACITY" });
    expect(String(await buffer(second.read()))).toBe("12345");
    expect(warned).toEqual([{ principal: "a", bytes: 4, reason: expect.any(String) }]);
    await expect(save("12345678901")).rejects.toMatchObject({ errorType: "CAPACITY", context: { limit: 10 } });
    expect(gaveWay(other, second, third)).toEqual([false, true, true]);
  });

  it("leave as much free as they take: whoever has most loses the oldest, and is refused more", async () => {
    freeBytes = 24;
    const modest = await saveOf("modest", "12");
    const [first, second] = [await save("123456"), await save("12")];
    expect(gaveWay(first)).toEqual([false]);
    const late = saveOf("late", "123");
    await expect(late).resolves.toMatchObject({ gaveWay: false });
    expect(gaveWay(modest, first, second)).toEqual([false, true, false]);
    await expect(saveOf("late", "1234567")).rejects.toMatchObject({
      errorType: "CAPACITY",
      context: { reason: "disk_full" },
    });
    expect(gaveWay(modest, second, await late)).toEqual([false, false, false]);
  });

  it("are not removed while they are read, and again after a reader that fails", async () => {
    const first = await save("12345");
    const reader = first.read()[Symbol.asyncIterator]();
    await reader.next();
    await expect(save("123456")).rejects.toMatchObject({ errorType: "CAPACITY" });
    expect(gaveWay(first)).toEqual([false]);
    await reader.return?.();
    await save("123456");
    expect(gaveWay(first)).toEqual([true]);
  });
});
