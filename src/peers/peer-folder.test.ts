import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { PeerFolder } from "./peer-folder.ts";

let folder = "";
beforeEach(() => (folder = realpathSync(mkdtempSync(path.join(tmpdir(), "glovebox-peers-")))));
afterEach(() => rmSync(folder, { recursive: true }));

function peers(platform: NodeJS.Platform): PeerFolder {
  const uid = platform === "win32" ? null : (process.getuid?.() ?? null);
  const stateOf = async (owner: string) => (owner === "gone" ? "expired" : "living");
  return new PeerFolder({ folder: path.join(folder, "peers"), owner: "own-1", uid, platform, leases: { stateOf } });
}

const ways = (["linux", "darwin"] as const).filter(() => process.platform !== "win32");

describe.each(ways)("the processes of a user on %s", (platform) => {
  it("have a socket each in a folder that is the user's alone", async () => {
    const own = peers(platform);
    await own.open();
    expect(own.ownAddress).toBe(path.join(folder, "peers", "own-1"));
    expect(statSync(path.join(folder, "peers")).mode & 0o777).toBe(0o700);
    for (const owner of ["own-1", "own-2", "gone"]) writeFileSync(path.join(folder, "peers", owner), "");
    expect(await own.others()).toEqual([path.join(folder, "peers", "own-2")]);
  });

  it("are not reached by what is no socket", async () => {
    mkdirSync(path.join(folder, "peers"), { mode: 0o700 });
    writeFileSync(path.join(folder, "peers", "own-2"), "");
    await expect(peers(platform).assertOwn(path.join(folder, "peers", "own-2"))).rejects.toMatchObject({
      errorType: "PERMISSION_DENIED",
    });
  });
});

describe("the processes of a user on Windows", () => {
  it("have a pipe each, and no folder in which one could find the others", async () => {
    const own = peers("win32");
    await own.open();
    expect(own.ownAddress).toBe("\\\\.\\pipe\\glovebox-own-1");
    expect(() => statSync(path.join(folder, "peers"))).toThrow("ENOENT");
    expect(await own.others()).toEqual([]);
    await own.assertOwn("\\\\.\\pipe\\glovebox-own-2");
  });
});
