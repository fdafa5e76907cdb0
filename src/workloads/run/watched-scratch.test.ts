import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { gibibyte, mebibyte } from "../../base/bytes.ts";
import { DiskScratch, type Room } from "../../sandbox/disk-scratch.ts";
import { WatchedScratch } from "./watched-scratch.ts";

const quiet = (): void => undefined;
const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };
let folder: string;
let room: Room;
let removals: number;
const sandbox = {
  id: "sbx-1",
  remove: async () => void (removals += 1),
  writtenBytes: () => Promise.resolve(null),
  writtenFolder: () => Promise.resolve(null),
};
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), "glovebox-scratch-"));
  room = { freeBytes: 100 * gibibyte, totalBytes: 200 * gibibyte };
  removals = 0;
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function open(): Promise<WatchedScratch | null> {
  const leases = { hold: async () => undefined, stateOf: async () => "living" as const };
  const uid = process.getuid?.() ?? null;
  const { platform, execPath: executable } = process;
  return WatchedScratch.open({
    diskScratch: new DiskScratch({ folder, uid, platform, owner: "me", leases }),
    ...{ diskBytes: 16 * mebibyte, logger, platform, executable, now: Date.now },
    readRoom: async () => room,
  });
}

function noRoom(): never {
  throw new Error("The disk has no room.");
}

describe.skipIf(process.platform !== "linux")("WatchedScratch", { timeout: 60_000 }, () => {
  it("ends a sandbox that leaves too little of the disk, though its files are not found", async () => {
    await using scratch = (await open()) ?? noRoom();
    scratch.watch(sandbox);
    room = { ...room, freeBytes: gibibyte };
    await expect.poll(() => removals, { timeout: 30_000 }).toBe(1);
    expect(scratch.error).toMatchObject({ errorType: "SANDBOX_LOST", context: { reason: "disk_full" } });
  });

  it("ends a sandbox that writes more than it may, and removes what it wrote", async () => {
    const scratch = (await open()) ?? noRoom();
    const [work] = scratch.mounts;
    scratch.watch(sandbox);
    writeFileSync(path.join(work?.source ?? "", "big"), Buffer.alloc(20 * mebibyte, 1));
    await expect.poll(() => removals, { timeout: 30_000 }).toBe(1);
    expect(scratch.error?.message).toContain("more than its limit of 16 MiB");
    await scratch[Symbol.asyncDispose]();
    expect(existsSync(work?.source ?? "")).toBe(false);
  });

  it("is not there where the disk has no room for it", async () => {
    room = { ...room, freeBytes: 2 * gibibyte };
    expect(await open()).toBeNull();
  });
});
