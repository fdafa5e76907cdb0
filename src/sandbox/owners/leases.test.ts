import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Leases } from "./leases.ts";
import { identityOf } from "./process-identity.ts";

const own = identityOf(process.pid, "this-host");
const ignore = (): undefined => undefined;
const quiet = { debug: ignore, info: ignore, warn: ignore, error: ignore };
let folder = "";
let nowMs = 1_000_000;
let uptimeMs = 50_000;

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "glovebox-test-leases-"));
});
afterEach(() => rm(folder, { recursive: true }));

const leasesOf = (owner: string): Leases =>
  new Leases({
    folder,
    uid: process.getuid?.() ?? null,
    owner,
    identity: own,
    logger: quiet,
    now: () => nowMs,
    uptimeMs: () => uptimeMs,
  });

/** Writes the lease of another process as that process would have. */
async function leaseOf(owner: string, identity: Record<string, unknown>): Promise<void> {
  const lease = { process: identity, renewedAtMs: nowMs, renewedUptimeMs: uptimeMs };
  await writeFile(path.join(folder, `${owner}.json`), JSON.stringify(lease));
}

describe("Leases", () => {
  it("tells a living owner while it holds its lease, and nothing of one it never heard of", async () => {
    const server = leasesOf("own-a");
    await server.hold();
    const other = leasesOf("own-b");
    expect(await other.stateOf("own-a")).toBe("living");
    expect(await other.stateOf("own-c")).toBe("unknown");
    await server.release();
    expect(await readdir(folder)).toEqual([]);
    expect(await other.stateOf("own-a")).toBe("unknown");
  });

  it("tells an owner whose process is gone at once", async () => {
    const child = spawn("sleep", ["1000"]);
    await leaseOf("own-child", { ...identityOf(child.pid ?? 0, "this-host") });
    expect(await leasesOf("own-b").stateOf("own-child")).toBe("living");
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(await leasesOf("own-b").stateOf("own-child")).toBe("expired");
  });

  it("is not deceived by a later process with the same number", async () => {
    await leaseOf("own-old", { ...own, startTicks: "1" });
    expect(await leasesOf("own-b").stateOf("own-old")).toBe("expired");
  });

  it("lets only time tell of another machine's", async () => {
    await leaseOf("own-far", { machine: "elsewhere", pid: 1, startTicks: "1" });
    expect(await leasesOf("own-b").stateOf("own-far")).toBe("living");
    nowMs += 301_000;
    expect(await leasesOf("own-b").stateOf("own-far")).toBe("expired");
  });

  it("is renewed each minute as long as it is held", async () => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    try {
      const server = leasesOf("own-a");
      const renewedAt = async (): Promise<number> => {
        const text = await readFile(path.join(folder, "own-a.json"), "utf8");
        return (JSON.parse(text) as { readonly renewedAtMs: number }).renewedAtMs;
      };
      await server.hold();
      nowMs += 60_000;
      vi.advanceTimersByTime(60_000);
      await expect.poll(renewedAt, { timeout: 2_000 }).toBe(nowMs);
      await server.release();
      vi.advanceTimersByTime(120_000);
      expect(await readdir(folder)).toEqual([]);
    } finally {
      vi.useRealTimers();
    }
  });

  it("takes what is no lease for none", async () => {
    for (const text of ["", "{}", "null", '{"process":null}', '{"process":{"machine":"x"},"renewedAtMs":"soon"}']) {
      await writeFile(path.join(folder, "own-odd.json"), text);
      expect(await leasesOf("own-b").stateOf("own-odd")).toBe("unknown");
    }
  });

  it("never follows an owner's name out of its folder", async () => {
    await writeFile(path.join(folder, "..", "own-outside.json"), "{}");
    expect(await leasesOf("own-b").stateOf("../own-outside")).toBe("unknown");
    await rm(path.join(folder, "..", "own-outside.json"));
  });

  it("forgets what expired long ago and keeps what may still own something", async () => {
    await leaseOf("own-old", { ...own, startTicks: "1" });
    await leasesOf("own-b").forgetLongExpired();
    expect(await readdir(folder)).toEqual(["own-old.json"]);
    nowMs += 8 * 24 * 3_600_000;
    await leasesOf("own-b").forgetLongExpired();
    expect(await readdir(folder)).toEqual([]);
  });
});

describe("a clock that is set", () => {
  const day = 24 * 3_600_000;
  const elsewhere = { machine: "elsewhere", pid: 1, startTicks: "1" };
  /** Of this boot, in a process namespace that this process cannot see into. */
  const beside = { ...own, machine: `${own.machine.split("/")[0] ?? ""}/pid:[1]`, startTicks: "1" };
  const jumps = [25 * 3_600_000, -25 * 3_600_000, 400 * day, -400 * day];

  it.each(jumps)("by %d ms ends no live server's lease", async (jumpMs) => {
    const server = leasesOf("own-a");
    await server.hold();
    const other = leasesOf("own-b");
    await leaseOf("own-far", elsewhere);
    await leaseOf("own-beside", beside);
    expect(await other.stateOf("own-far")).toBe("living");
    nowMs += jumpMs;
    await other.forgetLongExpired();
    for (const owner of ["own-a", "own-far", "own-beside"]) expect(await other.stateOf(owner), owner).toBe("living");
    // The other machine's clock is as it was, and its server renews by it.
    nowMs -= jumpMs;
    for (let minute = 0; minute < 10; minute++) {
      nowMs += 60_000;
      uptimeMs += 60_000;
      await leaseOf("own-far", elsewhere);
      await leaseOf("own-beside", beside);
      nowMs += jumpMs;
      for (const owner of ["own-far", "own-beside"]) expect(await other.stateOf(owner), owner).toBe("living");
      nowMs -= jumpMs;
    }
    await server.release();
  });

  it.each(jumps)("by %d ms makes no gone server's lease last", async (jumpMs) => {
    await leaseOf("own-far", elsewhere);
    await leaseOf("own-beside", beside);
    await leaseOf("own-gone", { ...own, startTicks: "1" });
    const other = leasesOf("own-b");
    await other.stateOf("own-far");
    nowMs += jumpMs;
    expect(await other.stateOf("own-gone")).toBe("expired");
    nowMs += 301_000;
    uptimeMs += 301_000;
    for (const owner of ["own-far", "own-beside"]) expect(await other.stateOf(owner), owner).toBe("expired");
    // As long as nothing changes it stays so.
    expect(await other.stateOf("own-far")).toBe("expired");
  });

  it("does not keep for ever what a wrong clock wrote", async () => {
    await leaseOf("own-gone", { ...own, startTicks: "1" });
    nowMs -= 400 * day;
    await leasesOf("own-b").forgetLongExpired();
    expect(await readdir(folder)).toEqual([]);
  });
});
