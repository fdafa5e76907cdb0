import { execFileSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openPlace } from "./mounts/open-place.ts";
import { canClearSetuidBits, clearSetuidBits, type ClearedFiles } from "./setuid-watch.ts";

let folder = "";
const at = (...names: string[]): string => path.join(folder, ...names);
const has = (name: string): boolean => (lstatSync(name).mode & 0o4000) !== 0;

function setuidFile(name: string | Buffer, mode = 0o4755): void {
  writeFileSync(name, "");
  chmodSync(name, mode);
}

async function clear(system: NodeJS.Platform = "linux"): Promise<ClearedFiles> {
  await using place = await openPlace(at("project"), system);
  if (place === null) throw new Error("The project changed while it was opened.");
  return await clearSetuidBits(place);
}

beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-"));
  for (const name of ["project/sub/deep", "outside"]) mkdirSync(at(name), { recursive: true });
  setuidFile(at("outside/kept"));
});
afterEach(() => rmSync(folder, { recursive: true }));

it("looks at nothing on Windows, which knows no such bit, and not at all where a walk could be led elsewhere", async () => {
  setuidFile(at("project/a"));
  expect(await clear("win32")).toEqual({ count: 0, names: [] });
  const systems = ["linux", "darwin", "win32", "freebsd"] as const;
  expect(systems.map((platform) => canClearSetuidBits({ platform }))).toEqual([true, true, true, false]);
});

/** The way of Linux and, on the same files, that of macOS. */
describe.runIf(process.platform === "linux").each(["linux", "darwin"] as const)("clearSetuidBits as on %s", (way) => {
  it("takes the bit of every file, and nothing else of its mode", async () => {
    setuidFile(at("project/a"));
    setuidFile(at("project/sub/deep/b"), 0o6711);
    writeFileSync(at("project/plain"), "");
    mkdirSync(at("project/shared"));
    chmodSync(at("project/shared"), 0o2775);
    const cleared = await clear(way);
    expect({ ...cleared, names: cleared.names.toSorted() }).toEqual({ count: 2, names: ["a", "sub/deep/b"] });
    expect(statSync(at("project/a")).mode & 0o7777).toBe(0o755);
    expect(statSync(at("project/sub/deep/b")).mode & 0o7777).toBe(0o2711);
    expect(statSync(at("project/shared")).mode & 0o7777).toBe(0o2775);
    expect(await clear(way)).toEqual({ count: 0, names: [] });
  });

  it("overlooks no name, names a few", async () => {
    setuidFile(Buffer.concat([Buffer.from(at("project/")), Buffer.from([0x61, 0xff, 0xfe])]));
    for (const name of [".hidden", " ", "new\nline", "größe", "-rf", "*", "x".repeat(255)])
      setuidFile(at("project", name));
    expect(await clear(way)).toMatchObject({ count: 8, names: { length: 5 } });
    expect(execFileSync("find", [at("project"), "-perm", "-4000"]).toString()).toBe("");
  });

  it("follows no link, neither of a file nor of a folder", async () => {
    symlinkSync(at("outside/kept"), at("project/link"));
    symlinkSync(at("outside"), at("project/folder"));
    expect(await clear(way)).toEqual({ count: 0, names: [] });
    expect(has(at("outside/kept"))).toBe(true);
  });

  it("takes it of a file that has another name as well", async () => {
    setuidFile(at("project/a"));
    linkSync(at("project/a"), at("project/sub/b"));
    expect((await clear(way)).count).toBe(1);
    expect(has(at("project/sub/b"))).toBe(false);
  });

  it("refuses folders too deep to follow", async () => {
    execFileSync("sh", ["-c", "i=0; while [ $i -lt 210 ]; do mkdir d && cd d; i=$((i + 1)); done"], {
      cwd: at("project"),
    });
    await expect(clear(way)).rejects.toMatchObject({ errorType: "POLICY_DENIED", context: { rule: "too-deep" } });
  });

  it("takes it by names of any letter, and not of another user's file", async () => {
    const ownerUid = process.getuid?.() ?? 0;
    for (const name of ["ä", "b"]) setuidFile(at("project", name));
    const walked = { stablePath: at("project"), platform: way };
    expect((await clearSetuidBits({ ...walked, owner: { uid: ownerUid + 1, gid: 0 } })).count).toBe(0);
    const cleared = await clearSetuidBits({ ...walked, owner: { uid: ownerUid, gid: 0 } });
    expect(cleared.names.toSorted()).toEqual(["b", "ä"]);
    expect(["ä", "b"].map((name) => lstatSync(at("project", name)).mode & 0o7777)).toEqual([0o755, 0o755]);
  });

  it("passes by what is a link by then", async () => {
    setuidFile(at("project/real"));
    renameSync(at("project/real"), at("outside/real"));
    symlinkSync(at("outside/real"), at("project/real"));
    expect((await clear(way)).count).toBe(0);
    expect(has(at("outside/real"))).toBe(true);
  });

  it("looks into folders that a program has closed to itself", async () => {
    mkdirSync(at("project/closed"));
    setuidFile(at("project/closed/a"));
    chmodSync(at("project/closed"), 0);
    expect((await clear(way)).count).toBe(1);
  });
});

describe.runIf(process.platform === "linux")("clearSetuidBits", () => {
  it("is led nowhere by folders that are exchanged while it looks", async () => {
    for (let file = 0; file < 300; file++) writeFileSync(at("project/sub/deep", String(file)), "");
    setuidFile(at("project/sub/deep/kept"));
    let isDone = false;
    const exchanging = (async () => {
      while (!isDone) {
        renameSync(at("project/sub"), at("project/was"));
        symlinkSync(at("outside"), at("project/sub"));
        await turn();
        rmSync(at("project/sub"));
        renameSync(at("project/was"), at("project/sub"));
        await turn();
      }
    })();
    for (let look = 0; look < 20; look++) await clear();
    isDone = true;
    await exchanging;
    expect(has(at("outside/kept"))).toBe(true);
    await clear();
    expect(has(at("project/sub/deep/kept"))).toBe(false);
  });

  it.runIf(process.getuid?.() === 0)("leaves other users' files alone, which programs cannot make", async () => {
    setuidFile(at("project/theirs"));
    chownSync(at("project/theirs"), 4321, 4321);
    chmodSync(at("project/theirs"), 0o4755);
    expect((await clear()).count).toBe(0);
    expect(has(at("project/theirs"))).toBe(true);
  });
});
