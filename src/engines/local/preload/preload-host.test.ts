import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openPreloadHost, type PreloadHost } from "./preload-host.ts";

let folder = "";
beforeEach(() => (folder = realpathSync(mkdtempSync(path.join(tmpdir(), "glovebox-preload-")))));
afterEach(() => rmSync(folder, { recursive: true }));

function open(platform: NodeJS.Platform): Promise<PreloadHost> {
  return openPreloadHost(
    {
      platform,
      architecture: "arm64",
      // As where there are no user ids: who we are does not matter here.
      uid: null,
      environment: { PATH: "/usr/bin:/bin", SystemRoot: "D:\\Windows" },
      pythonPath: null,
      nodePath: process.execPath,
      preloadFolders: { own: path.join(folder, "own"), passable: path.join(folder, "passable") },
      bunFolder: path.join(folder, "bun"),
      fetchBun: () => Promise.reject(new Error("tests have Bun beside them")),
      seccompFilter: new Uint8Array(),
      now: () => 0,
      randomInteger: (minimum) => minimum,
    },
    { reason: "No namespaces." },
  );
}

describe("what level preload finds on its host", () => {
  it.each(["darwin", "win32"] as const)(
    "has no tools that bound programs on %s, and no ceiling to keep",
    async (system) => {
      const host = await open(system);
      expect(host).toMatchObject({
        platform: system,
        baseFolder: path.join(folder, "own"),
        tools: { setpriv: null, prlimit: null },
        openFilesCeiling: Number.POSITIVE_INFINITY,
        changesUser: false,
      });
      expect(host.capabilities).toMatchObject({
        isolation: "preload",
        noNewPrivileges: { substitute: expect.any(String) },
      });
      const home = system === "win32" ? { SystemRoot: "D:\\Windows", USERPROFILE: "D:\\t" } : { HOME: "D:\\t" };
      expect(host.environmentFor("D:\\t")).toMatchObject(home);
    },
  );

  it.runIf(process.platform === "linux")("knows on Linux how many files may be open", async () => {
    expect((await open("linux")).openFilesCeiling).toBeLessThan(Number.POSITIVE_INFINITY);
  });
});
