import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isPrivateFolder, makePrivateFolder } from "./private-folder.ts";

const uid = process.getuid?.() ?? null;
let base = "";
const at = (...names: readonly string[]): string => path.join(base, ...names);
beforeEach(() => (base = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-private-"))));
afterEach(() => rmSync(base, { recursive: true }));

const refusalOf = (folder: string): Promise<unknown> =>
  makePrivateFolder(folder, uid).catch((error: unknown) => (error as Error).message);

describe("a folder of this user's alone", () => {
  it("is made so, also below a folder where each owns their own", async () => {
    await makePrivateFolder(at("state", "leases"), uid);
    expect(statSync(at("state")).mode & 0o777).toBe(0o700);
    expect(await isPrivateFolder(at("state", "leases"), uid)).toBe(true);
    expect(await isPrivateFolder(at("missing"), uid)).toBe(false);
  });

  it("is none when others may write to it", async () => {
    mkdirSync(at("open"));
    for (const mode of [0o707, 0o770]) {
      chmodSync(at("open"), mode);
      expect(await refusalOf(at("open"))).toContain("it is open to other users");
      expect(await isPrivateFolder(at("open"), uid)).toBe(false);
    }
  });

  it("is none when it is a link, even to one of ours", async () => {
    mkdirSync(at("real"));
    symlinkSync(at("real"), at("link"));
    expect(await refusalOf(at("link"))).toContain("it is a link");
  });

  it("is none below a folder that everybody may exchange it in", async () => {
    mkdirSync(at("shared"));
    chmodSync(at("shared"), 0o777);
    expect(await refusalOf(at("shared", "state"))).toContain("everybody may write to a folder above it");
    chmodSync(at("shared"), 0o1777);
    expect(await isPrivateFolder(at("shared", "state"), uid)).toBe(true);
  });

  it("is none on a way that leads through a link over such a folder", async () => {
    mkdirSync(at("home", "state"), { recursive: true });
    mkdirSync(at("shared"));
    symlinkSync(at("home"), at("shared", "way"));
    chmodSync(at("shared"), 0o777);
    expect(await isPrivateFolder(at("shared", "way", "state"), uid)).toBe(false);
    expect(await isPrivateFolder(at("home", "state"), uid)).toBe(true);
  });

  it.skipIf(uid !== 0)("is none when it, or a folder above it, belongs to somebody else", async () => {
    mkdirSync(at("theirs", "state"), { recursive: true });
    chownSync(at("theirs", "state"), 4321, 4321);
    expect(await refusalOf(at("theirs", "state"))).toContain("it belongs to another user (uid 4321");
    chownSync(at("theirs"), 4321, 4321);
    expect(await refusalOf(at("theirs", "own"))).toContain("a folder above it belongs to user 4321");
  });

  it("is not asked for where there are no users", async () => {
    await makePrivateFolder(at("windows"), null);
    expect(existsSync(at("windows"))).toBe(true);
  });
});
