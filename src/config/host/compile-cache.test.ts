import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openCompileFolder } from "./compile-cache.ts";

let home: string;
beforeEach(() => (home = mkdtempSync(path.join(tmpdir(), "glovebox-compiled-"))));
afterEach(() => rmSync(home, { recursive: true, force: true }));

const uid = process.getuid?.() ?? null;
const version = "1.2.3";
const open = (stateDirectory = path.join(home, "state/glovebox")): string | null =>
  openCompileFolder({ stateDirectory, uid }, version);

describe.skipIf(uid === null)("openCompileFolder", () => {
  it("makes a folder for this user alone, below the state folder, and finds it again", () => {
    const folder = open();
    expect(folder).toBe(path.join(home, "state/glovebox/compiled", version));
    for (const made of [home, path.join(home, "state"), path.dirname(folder ?? ""), folder ?? ""]) {
      expect(statSync(made).mode & 0o777).toBe(0o700);
    }
    expect(open()).toBe(folder);
  });

  it("uses none that others may read, write to or have made a link of", () => {
    const folder = open() ?? "";
    for (const [place, mode] of [
      [folder, 0o710],
      [path.dirname(folder), 0o702],
      [path.join(home, "state/glovebox"), 0o770],
    ] as const) {
      const before = statSync(place).mode & 0o777;
      chmodSync(place, mode);
      expect(open(), place).toBeNull();
      chmodSync(place, before);
    }
    expect(open()).toBe(folder);
    rmSync(folder, { recursive: true });
    mkdirSync(path.join(home, "elsewhere"), { mode: 0o700 });
    symlinkSync(path.join(home, "elsewhere"), folder);
    expect(open()).toBeNull();
  });

  it.skipIf(process.platform !== "linux")("ends where a folder that is there lets none be made in it", () => {
    expect(() => open("/proc/glovebox-test/state")).toThrow("ENOENT");
  });

  it("makes nothing where others could exchange what it makes, sticky or not", () => {
    for (const mode of [0o777, 0o1777]) {
      chmodSync(home, mode);
      expect(open()).toBeNull();
    }
    expect(existsSync(path.join(home, "state"))).toBe(false);
  });

  it.skipIf(uid !== 0)("makes nothing in another user's home, and uses nothing of another user's", () => {
    chownSync(home, 12_345, 12_345);
    expect(open()).toBeNull();
    expect(existsSync(path.join(home, "state"))).toBe(false);
    chownSync(home, 0, 0);
    const folder = open() ?? "";
    chownSync(folder, 12_345, 12_345);
    expect(open()).toBeNull();
  });

  it("keeps what one other version has compiled, and forgets older ones", () => {
    const folder = open() ?? "";
    const others = ["0.1.0", "0.2.0"].map((name) => path.join(path.dirname(folder), name));
    for (const other of others) mkdirSync(other, { mode: 0o700 });
    expect(open()).toBe(folder);
    expect(others.map((other) => existsSync(other))).toEqual([true, true]);
    rmSync(folder, { recursive: true });
    open();
    expect(others.filter((other) => existsSync(other))).toHaveLength(1);
  });
});
