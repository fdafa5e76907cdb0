import { describe, expect, it } from "vitest";
import { assertEnforceable, optionalDemands } from "../../enforcement/assert-enforceable.ts";
import { taskkillArguments } from "./processes/end-family.ts";
import { memoryIntervalMs, parseStatus } from "./processes/memory-use.ts";
import { preloadCapabilities } from "./preload-capabilities.ts";
import { defaultEnvironment } from "./guards/program-environment.ts";
import { parseGroupOwner } from "../cgroups/cgroup-names.ts";
import { folderPrefix } from "./folders/sweep-folders.ts";

describe("what differs between systems", () => {
  it("Windows programs get what they cannot start without, and nothing else of the host's", () => {
    const host = { SystemRoot: "D:\\Windows", SECRET: "x", PATH: "D:\\private" };
    expect(defaultEnvironment({ platform: "win32", host, temporaryFolder: "D:\\t" })).toEqual({
      SystemRoot: "D:\\Windows",
      PATH: "D:\\Windows\\System32",
      HOME: "D:\\t",
      USERPROFILE: "D:\\t",
      TEMP: "D:\\t",
      TMP: "D:\\t",
    });
  });

  it("elsewhere programs get a path, a home and a folder for temporary files", () => {
    const environment = defaultEnvironment({ platform: "darwin", host: { SECRET: "x" }, temporaryFolder: "/t" });
    expect(environment).toEqual({ PATH: "/usr/bin:/bin", HOME: "/t", TMPDIR: "/t" });
  });

  it("Windows ends a tree by itself", () => {
    expect(taskkillArguments(42, "SIGTERM")).toEqual(["/PID", "42", "/T"]);
    expect(taskkillArguments(42, "SIGKILL")).toEqual(["/PID", "42", "/T", "/F"]);
  });

  it("memory is looked at often where that is cheap, and not at all where it cannot be", () => {
    expect(["linux", "darwin", "win32"].map((platform) => memoryIntervalMs(platform as NodeJS.Platform))).toEqual([
      50,
      500,
      null,
    ]);
  });

  it("memory is read from what Linux tells of a process", () => {
    expect(parseStatus("Name:\tx\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\n")).toEqual({
      bytes: 1_048_576,
      peakBytes: 2_097_152,
    });
    expect(parseStatus("Name:\tx\nState:\tZ (zombie)\n")).toBeNull();
  });

  it("a folder left behind names its maker", () => {
    const maker = { namespace: "4026531836", processId: 123, startTicks: "456" };
    expect(parseGroupOwner(`${folderPrefix(maker)}AbC`)).toEqual(maker);
    expect(parseGroupOwner(`${folderPrefix(null)}AbC`)).toBeNull();
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
    expect(warnings).toContain("a seccomp filter: not enforced on engine local here.");
  });

  it("is refused where more is demanded, with the reason", () => {
    const check = () => assertEnforceable(on("linux", true), { engine: "local", minIsolation: "namespaces" });
    expect(check).toThrow('reaches isolation "preload" here; "namespaces" is demanded');
  });
});
