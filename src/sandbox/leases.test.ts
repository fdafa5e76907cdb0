import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Leases } from "./leases.ts";
import { identityOf } from "./process-identity.ts";

const own = identityOf(process.pid, "this-host");
const ignore = (): undefined => undefined;
const quiet = { debug: ignore, info: ignore, warn: ignore, error: ignore };
let folder = "";
let nowMs = 1_000_000;

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "glovebox-test-leases-"));
});
afterEach(() => rm(folder, { recursive: true }));

const leasesOf = (owner: string): Leases =>
  new Leases({ folder, owner, identity: own, logger: quiet, now: () => nowMs });

/** Writes the lease of another process as that process would have. */
async function leaseOf(owner: string, identity: Record<string, unknown>): Promise<void> {
  await writeFile(path.join(folder, `${owner}.json`), JSON.stringify({ process: identity, renewedAtMs: nowMs }));
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
