import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { OwnerState } from "./owners/leases.ts";
import { DiskScratch } from "./disk-scratch.ts";

const states: Readonly<Record<string, OwnerState>> = { me: "living", other: "living", dead: "expired" };
const leases = { hold: async () => undefined, stateOf: async (owner: string) => states[owner] ?? "unknown" };
const uid = process.getuid?.() ?? null;
const { platform } = process;
let folder: string;
let scratch: DiskScratch;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "glovebox-scratch-"));
  scratch = new DiskScratch({ folder, uid, platform, owner: "me", leases });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe.skipIf(platform === "win32")("DiskScratch", () => {
  it("makes folders that every user inside can write to and no other user here can reach, and removes them", async () => {
    const made = await scratch.make();
    const other = await scratch.make();
    expect(made.mounts.map(({ target, readOnly }) => [target, readOnly])).toEqual([
      ["/work", false],
      ["/tmp", false],
    ]);
    for (const { source } of made.mounts) {
      expect(statSync(source).mode & 0o7777).toBe(0o1777);
      mkdirSync(path.join(source, "closed"), { mode: 0o000 });
    }
    expect(statSync(path.dirname(made.folder)).mode & 0o777).toBe(0o700);
    await made[Symbol.asyncDispose]();
    expect(existsSync(made.folder)).toBe(false);
    expect(existsSync(other.folder)).toBe(true);
    await scratch.close();
    expect(readdirSync(folder)).toEqual([]);
  });

  it("removes what dead servers left, and nothing of living ones", async () => {
    for (const owner of ["dead", "other", "unheard-of"]) {
      mkdirSync(path.join(folder, owner, "1/work"), { recursive: true });
      writeFileSync(path.join(folder, owner, "1/work/file"), "");
    }
    await scratch.forgetLeft();
    expect(readdirSync(folder)).toEqual(["other"]);
  });
});

it("serves engines that keep scratch in memory, mount folders of this machine and refuse setuid bits", () => {
  const good = { scratch: "memory", hostPaths: true, setuidRefusal: "yes", images: true } as Parameters<
    DiskScratch["serves"]
  >[0];
  const served = (changes: object, as: number | null = 0): boolean =>
    new DiskScratch({ folder, uid: as, platform: "linux", owner: "me", leases }).serves({ ...good, ...changes });
  expect(served({})).toBe(true);
  expect(served({ images: false }, 1000)).toBe(true);
  // Its programs' files would be another user's.
  expect(served({}, 1000)).toBe(false);
  // A virtual machine is between, and what it makes of owners and of setuid bits is not ours to say.
  for (const system of ["darwin", "win32"] as const) {
    expect(new DiskScratch({ folder, uid: 0, platform: system, owner: "me", leases }).serves(good)).toBe(false);
  }
  for (const lacking of [{ scratch: "disk" }, { hostPaths: false }, { setuidRefusal: { substitute: "a watch" } }])
    expect(served(lacking)).toBe(false);
});
