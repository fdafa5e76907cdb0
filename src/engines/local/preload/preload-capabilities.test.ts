import { describe, expect, it } from "vitest";
import { assertEnforceable, optionalDemands } from "../../assert-enforceable.ts";
import { preloadCapabilities } from "./preload-capabilities.ts";

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
