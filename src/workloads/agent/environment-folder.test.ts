import { existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, statSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { DiskScratch } from "../../sandbox/disk-scratch.ts";
import { makeEnvironmentFolder } from "./agent-folders.ts";

const { platform } = process;
const uid = process.getuid?.() ?? null;
const me = { uid: uid ?? 0, gid: process.getgid?.() ?? 0 };
let folder = "";
beforeEach(() => void (folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), "glovebox-test-")))));
afterEach(() => rmSync(folder, { recursive: true }));

function scratch(owner: string, state: "living" | "expired" = "living"): DiskScratch {
  const leases = { hold: async () => undefined, stateOf: async () => state };
  return new DiskScratch({ folder: path.join(folder, "scratch"), uid, platform, owner, leases });
}

describe.skipIf(platform === "win32")("makeEnvironmentFolder", () => {
  it("has one file for its agent alone, and is gone afterwards", async () => {
    const made = await makeEnvironmentFolder({ diskScratch: scratch("a"), variables: { K: "it's" }, user: me, uid });
    const file = path.join(made.mount.source, "env");
    expect(made.mount).toMatchObject({ target: "/workspace/env-dir", readOnly: true });
    expect(readFileSync(file, "utf8")).toBe(String.raw`export K='it'\''s'` + "\n");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(made.mount.source).mode & 0o777).toBe(0o700);
    await made[Symbol.asyncDispose]();
    expect(existsSync(made.mount.source)).toBe(false);
  });

  it("is another one for each run", async () => {
    const options = { diskScratch: scratch("a"), variables: {}, user: me, uid };
    await using one = await makeEnvironmentFolder(options);
    await using other = await makeEnvironmentFolder(options);
    expect(one.mount.source).not.toBe(other.mount.source);
  });

  it("goes with the next start when its server was killed", async () => {
    const { mount } = await makeEnvironmentFolder({ diskScratch: scratch("a"), variables: {}, user: me, uid });
    await scratch("b", "expired").forgetLeft();
    expect(existsSync(mount.source)).toBe(false);
  });

  it.runIf(uid === 0)("belongs to whom the agent runs as", async () => {
    const user = { uid: 1000, gid: 1001 };
    await using made = await makeEnvironmentFolder({ diskScratch: scratch("a"), variables: {}, user, uid });
    expect(statSync(made.mount.source)).toMatchObject(user);
    expect(statSync(path.join(made.mount.source, "env"))).toMatchObject(user);
  });

  it.runIf(uid !== 0)("leaves nothing behind when it cannot be given away", async () => {
    const user = { uid: 1, gid: 1 };
    const making = makeEnvironmentFolder({ diskScratch: scratch("a"), variables: {}, user, uid });
    await expect(making).rejects.toMatchObject({ errorType: "PERMISSION_DENIED" });
    expect(readdirSync(path.join(folder, "scratch", "a"))).toEqual([]);
  });
});
