import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { buffer } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { OwnerState } from "./owners/leases.ts";
import { WorkArchives } from "./work-archives.ts";

let folder: string;
let archives: WorkArchives;
const states: Readonly<Record<string, OwnerState>> = { me: "living", other: "living", dead: "expired" };
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "glovebox-archives-"));
  const leases = { hold: async () => undefined, stateOf: async (owner: string) => states[owner] ?? "unknown" };
  archives = new WorkArchives({ folder, uid: process.getuid?.() ?? null, owner: "me", leases });
});
afterEach(() => rm(folder, { recursive: true, force: true }));

async function* chunks(...texts: readonly string[]): AsyncGenerator<Uint8Array, void, undefined> {
  for (const text of texts) yield Buffer.from(text);
}

describe("WorkArchives", () => {
  it("gives back what it was given, to its user alone, until it is disposed of", async () => {
    const archive = await archives.save(chunks("one ", "two"), 7);
    let read = "";
    for await (const bytes of archive.read()) read += Buffer.from(bytes).toString();
    expect(read).toBe("one two");
    const [name = ""] = await readdir(path.join(folder, "me"));
    expect((await stat(path.join(folder, "me", name))).mode & 0o777).toBe(0o600);
    await archive[Symbol.asyncDispose]();
    expect(await readdir(path.join(folder, "me"))).toEqual([]);
  });

  it("leaves nothing of what is too large or breaks off", async () => {
    await expect(archives.save(chunks("one", "two"), 5)).rejects.toMatchObject({ errorType: "CAPACITY" });
    const broken = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
      yield* chunks("one");
      throw new Error("broken");
    };
    await expect(archives.save(broken(), 100)).rejects.toThrow("broken");
    expect(await readdir(path.join(folder, "me"))).toEqual([]);
  });

  it("fails whoever reads one that is gone, and not the server before it is read", async () => {
    const archive = await archives.save(chunks("x"), 10);
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
    await expect(buffer(unread)).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("forgets what servers that are gone have left, and its own at the end", async () => {
    for (const owner of ["other", "dead", "nobody"]) {
      await mkdir(path.join(folder, owner));
      await writeFile(path.join(folder, owner, "1.tar"), "x");
    }
    await archives.save(chunks("x"), 10);
    await archives.forgetLeft();
    expect((await readdir(folder)).toSorted()).toEqual(["me", "other"]);
    await archives.close();
    expect(await readdir(folder)).toEqual(["other"]);
  });
});
