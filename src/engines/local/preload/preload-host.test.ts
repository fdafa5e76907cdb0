import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openPreloadHost, preloadCapabilities, type PreloadHost } from "./preload-host.ts";
import { assertEnforceable, optionalDemands } from "../../assert-enforceable.ts";

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

describe("preloadCapabilities", () => {
  const on = (platform: NodeJS.Platform, setpriv: boolean) =>
    preloadCapabilities({ platform, setpriv, reason: "No namespaces.", asRoot: false, nodeVersion: null });

  it("claims no more than it has", () => {
    expect(on("linux", true)).toMatchObject({
      isolation: "preload",
      seccomp: "no",
      noNewPrivileges: "yes",
      cpuLimit: "no",
    });
    expect(on("darwin", false).noNewPrivileges).toMatchObject({ substitute: expect.any(String) });
    expect(on("win32", false)).toMatchObject({ memoryLimit: "no", oomReporting: false });
  });

  it("tells of itself and of root in every result", () => {
    const root = preloadCapabilities({
      platform: "linux",
      setpriv: false,
      reason: "No namespaces.",
      asRoot: true,
      nodeVersion: "24.18.0",
    });
    const { warnings } = assertEnforceable(root, {
      engine: "local",
      minIsolation: "preload",
      optional: optionalDemands(root, []),
    });
    expect(warnings[0]).toMatch(/^isolation preload: .*No namespaces\./);
    expect(warnings[1]).toContain("as root");
    expect(warnings[2]).toMatch(/permission model of Node 24\.18\.0 is known to be broken \(CVE-2026-58043/);
    expect(warnings).toContain("Engine local does not enforce a seccomp filter here.");
  });

  it("is refused where more is required, with the reason", () => {
    const check = () => assertEnforceable(on("linux", true), { engine: "local", minIsolation: "namespaces" });
    expect(check).toThrow('reaches isolation "preload" here; "namespaces" is required');
  });
});
