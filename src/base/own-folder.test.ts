import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isPrivateFolder, makePrivateFolder, openOwnFolder, problemOf } from "./own-folder.ts";

let folder: string;
beforeEach(() => (folder = mkdtempSync(path.join(tmpdir(), "glovebox-own-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const uid = process.getuid?.() ?? null;
const rules = { what: "the state folder", remedy: "set XDG_STATE_HOME", uid, mode: 0o700 };

describe("openOwnFolder", () => {
  it("makes it with its mode, whatever the umask, and finds it again", async () => {
    const place = path.join(folder, "a/b");
    const umask = process.umask(0o077);
    try {
      await openOwnFolder(place, { ...rules, mode: 0o711 });
    } finally {
      process.umask(umask);
    }
    for (const made of ["a", "a/b"]) expect(statSync(path.join(folder, made)).mode & 0o777).toBe(0o711);
    expect(await openOwnFolder(place, { ...rules, mode: 0o711 })).toBe(place);
    expect(existsSync(place)).toBe(true);
  });

  it.each([
    ["a link", (place: string) => symlinkSync(folder, place), "it is a link"],
    [
      "one that others may write to",
      (place: string) => (mkdirSync(place), chmodSync(place, 0o777)),
      "open to other users",
    ],
    ["one that others may read", (place: string) => (mkdirSync(place), chmodSync(place, 0o750)), "open to other users"],
  ])("refuses %s, and says what to do", async (_, make, words) => {
    const place = path.join(folder, "place");
    make(place);
    await expect(openOwnFolder(place, rules)).rejects.toMatchObject({
      errorType: "PERMISSION_DENIED",
      message: expect.stringMatching(new RegExp(`^Glovebox does not use the state folder: .*${words}`)),
      suggestion: expect.stringContaining("set XDG_STATE_HOME"),
    });
  });

  it.skipIf(process.platform !== "linux")("ends where a folder that is there lets none be made in it", async () => {
    await expect(openOwnFolder("/proc/glovebox-test/a/b", rules)).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("refuses what is no folder", async () => {
    writeFileSync(path.join(folder, "file"), "");
    await expect(openOwnFolder(path.join(folder, "file"), rules)).rejects.toThrow("it is not a folder");
  });

  it.skipIf(uid !== 0)("refuses another user's", async () => {
    const place = path.join(folder, "place");
    mkdirSync(place, { mode: 0o700 });
    chownSync(place, 999, 999);
    await expect(openOwnFolder(place, rules)).rejects.toThrow("belongs to another user (uid 999, not 0)");
  });
});

it("problemOf: nobody is asked for an owner where there are none", () => {
  const stats = { isDirectory: () => true, isSymbolicLink: () => false, uid: 0, mode: 0o40777 };
  expect(problemOf(stats, null, 0o700)).toBeNull();
  expect(problemOf(stats, 0, 0o777)).toBeNull();
});

const within = (...names: readonly string[]): string => path.join(folder, ...names);
const refusalOf = (folder: string): Promise<unknown> =>
  makePrivateFolder(folder, uid).catch((error: unknown) => (error as Error).message);

describe("a folder of this user's alone", () => {
  it("is made so, also below a folder where each owns their own", async () => {
    await makePrivateFolder(within("state", "leases"), uid);
    expect(statSync(within("state")).mode & 0o777).toBe(0o700);
    expect(await isPrivateFolder(within("state", "leases"), uid)).toBe(true);
    expect(await isPrivateFolder(within("missing"), uid)).toBe(false);
  });

  it("is none when others may write to it", async () => {
    mkdirSync(within("open"));
    for (const mode of [0o707, 0o770]) {
      chmodSync(within("open"), mode);
      expect(await refusalOf(within("open"))).toContain("it is open to other users");
      expect(await isPrivateFolder(within("open"), uid)).toBe(false);
    }
  });

  it("is none when it is a link, even to one of ours", async () => {
    mkdirSync(within("real"));
    symlinkSync(within("real"), within("link"));
    expect(await refusalOf(within("link"))).toContain("it is a link");
  });

  it("is none below a folder that everybody may exchange it in", async () => {
    mkdirSync(within("shared"));
    chmodSync(within("shared"), 0o777);
    expect(await refusalOf(within("shared", "state"))).toContain("everybody may write to a folder above it");
    chmodSync(within("shared"), 0o1777);
    expect(await isPrivateFolder(within("shared", "state"), uid)).toBe(true);
  });

  it("is none on a way that leads through a link over such a folder", async () => {
    mkdirSync(within("home", "state"), { recursive: true });
    mkdirSync(within("shared"));
    symlinkSync(within("home"), within("shared", "way"));
    chmodSync(within("shared"), 0o777);
    expect(await isPrivateFolder(within("shared", "way", "state"), uid)).toBe(false);
    expect(await isPrivateFolder(within("home", "state"), uid)).toBe(true);
  });

  it.skipIf(uid !== 0)("is none when it, or a folder above it, belongs to somebody else", async () => {
    mkdirSync(within("theirs", "state"), { recursive: true });
    chownSync(within("theirs", "state"), 4321, 4321);
    expect(await refusalOf(within("theirs", "state"))).toContain("it belongs to another user (uid 4321");
    chownSync(within("theirs"), 4321, 4321);
    expect(await refusalOf(within("theirs", "own"))).toContain("a folder above it belongs to user 4321");
  });

  it("is not asked for where there are no users", async () => {
    await makePrivateFolder(within("windows"), null);
    expect(existsSync(within("windows"))).toBe(true);
  });
});
