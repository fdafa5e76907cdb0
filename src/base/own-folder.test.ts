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
import { openOwnFolder, problemOf } from "./own-folder.ts";

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
