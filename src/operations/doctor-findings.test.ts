import { describe, expect, it } from "vitest";
import type { EngineComponent, EngineSetup } from "../engines/capabilities.ts";
import type { Finding } from "./doctor-contract.ts";
import { knownDangers } from "./known-dangers.ts";
import { parseUpstreamVersion } from "../base/upstream-version.ts";
import { versionFindings, imageFindings } from "./doctor-findings.ts";
import { bunVersion } from "../base/bun-packages.ts";

function findings(component: EngineComponent, setup: EngineSetup = {}): readonly Finding[] {
  return versionFindings([component], setup, knownDangers);
}

function cves(component: EngineComponent, setup: EngineSetup = {}): readonly string[] {
  return findings(component, setup).flatMap(({ what }) => [...what.matchAll(/CVE-\d+-\d+/g)].map(([cve]) => cve));
}

const races = ["CVE-2025-31133", "CVE-2025-52565", "CVE-2025-52881"];

describe("the table of known dangers", () => {
  it("has rows with readable versions in order, real identifiers and sentences", () => {
    expect(knownDangers.length).toBeGreaterThan(15);
    for (const { affected, cves: ids, effect } of knownDangers) {
      expect(ids.length).toBeGreaterThan(0);
      for (const id of ids) expect(id).toMatch(/^CVE-20\d\d-\d{4,}$/);
      expect(effect).toMatch(/^[A-Z].*\.$/);
      for (const { from = "0", fixed } of affected) {
        expect([parseUpstreamVersion(from), parseUpstreamVersion(fixed)]).not.toContain(null);
      }
    }
  });

  it("names each fault once for a part", () => {
    const named = knownDangers.flatMap(({ component, cves: ids }) => ids.map((id) => `${component} ${id}`));
    expect(new Set(named).size).toBe(named.length);
  });
});

describe("versionFindings", () => {
  it("says which runs use the part, if not all do", () => {
    const gvisor = { name: "gVisor", version: "20221219.0" };
    expect(findings(gvisor)).toEqual([expect.not.objectContaining({ only_with: expect.anything() })]);
    const only_with = { oci_runtime: "runsc", part: "gVisor 20221219.0" };
    expect(findings({ ...gvisor, ociRuntime: "runsc" })).toEqual([expect.objectContaining({ only_with })]);
  });

  it.each([
    ["runc", "1.0.0-rc92", ["CVE-2021-30465", ...races, "CVE-2026-41579"]],
    ["runc", "1.1.11", ["CVE-2024-21626", ...races, "CVE-2026-41579"]],
    ["runc", "1.1.12", [...races, "CVE-2026-41579"]],
    ["runc", "1.2.8", ["CVE-2026-41579"]],
    ["runc", "1.3.2", [...races, "CVE-2026-41579"]],
    ["runc", "1.3.3", ["CVE-2026-41579"]],
    ["runc", "1.3.6", []],
    ["runc", "1.4.0-rc.2", races],
    ["runc", "1.4.2", ["CVE-2026-41579"]],
    ["runc", "1.5.0", []],
    ["crun", "1.26", ["CVE-2026-30892", "CVE-2026-47766"]],
    ["crun", "1.28", []],
    ["containerd", "2.1.0", ["CVE-2025-47290", "CVE-2026-47262", "CVE-2024-25621"]],
    ["containerd", "2.3.2", []],
    ["Docker Engine", "29.5.1", ["CVE-2026-97032", "CVE-2026-78659", "CVE-2026-78663", "CVE-2026-78669"]],
    ["Docker Engine", "29.9.0", []],
    ["gVisor", "20221219.0", ["CVE-2026-96812"]],
    ["gVisor", "20260823.1", ["CVE-2026-96812"]],
    ["gVisor", "20260824.0", []],
    ["Node", "24.18.0", []],
    ["Docker Desktop", "4.38.0", ["CVE-2025-9074", "CVE-2026-5843", "CVE-2026-112917"]],
    ["Docker Desktop", "4.71.0", ["CVE-2026-112917"]],
    ["Podman Engine", "5.7.1", ["CVE-2025-11395"]],
    ["Podman Engine", "6.1.2", []],
    ["bubblewrap", "0.4.0", []],
    ["tini", "0.1", []],
  ])("of %s %s", (name, version, expected) => {
    expect(cves({ name, version })).toEqual(expected);
  });

  it("says of upstream's own build what it has, and which version fixes its series", () => {
    expect(findings({ name: "runc", version: "1.3.2", build: "v1.3.2-0-gaeabe4e7" })[0]).toEqual({
      severity: "danger",
      what: `runc 1.3.2 is known to have ${races.join(", ")}.`,
      why: expect.stringContaining("break out"),
      fix: "Upgrade runc to 1.3.3 or later.",
    });
  });

  it.each([
    ["1.1.5+ds1", "1.1.5+ds1-1"],
    ["1.1.5", "1.1.5-0ubuntu1~22.04.1"],
    ["1.1.5+ds1", undefined],
  ])("only warns of a distribution's %s (%s), which may have the fix", (version, build) => {
    const [first] = findings({ name: "runc", version, build });
    expect(first).toMatchObject({
      severity: "warning",
      what: `runc ${version} may have CVE-2024-21626: upstream fixed it in 1.1.12.`,
      fix: expect.stringMatching(/distribution.*upgrade runc to 1\.1\.12/),
    });
    expect(first?.fix.includes(`this is ${build}`)).toBe(build !== undefined);
  });

  it.each([
    ["1.1.5+ds1-1+deb12u1", false],
    ["1.1.5+ds1-1+deb12u10", false],
    ["1.1.5+ds1-1+deb11u1", true],
    ["1.1.5+ds1-1", true],
  ])("knows whether Debian's runc %s lacks a fix", (build, lacksIt) => {
    const found = cves({ name: "runc", version: "1.1.5+ds1", build });
    expect(found.includes("CVE-2024-21626")).toBe(lacksIt);
    expect(found).toEqual(expect.arrayContaining(races));
  });

  it("holds faults in authorization against engines that have such plugins only", () => {
    const component = { name: "Docker Engine", version: "26.1.4" };
    const faults = ["CVE-2024-41110", "CVE-2026-34040"];
    expect(cves(component).filter((cve) => faults.includes(cve))).toEqual([]);
    expect(cves(component, { authorizationPlugins: ["opa"] })).toEqual(expect.arrayContaining(faults));
    expect(cves({ ...component, version: "26.1.5" }, { authorizationPlugins: ["opa"] })).not.toContain(faults[0]);
  });

  it("holds faults of a setuid bubblewrap against those only, and never as a certainty", () => {
    const component = { name: "bubblewrap", version: "0.11.1" };
    expect(findings(component, { setuid: false })).toEqual([]);
    expect(findings(component, { setuid: true })).toEqual([
      expect.objectContaining({ severity: "warning", what: expect.stringContaining("may have CVE-2026-41163") }),
    ]);
  });

  it("says when a version cannot be read", () => {
    expect(findings({ name: "runc", version: "unknown" })).toEqual([
      expect.objectContaining({ severity: "note", what: expect.stringContaining('"unknown"') }),
    ]);
  });
});

describe("imageFindings", () => {
  it.each([null, { "glovebox.bun": bunVersion }])("has nothing to say of %j", (labels) => {
    expect(imageFindings("docker", labels)).toEqual([]);
  });

  it.each([
    [{ "glovebox.bun": "1.0.0" }, "has Bun 1.0.0;"],
    [{}, "has a Bun that it does not name;"],
    [{ "glovebox.bun": "\u001b[2J" }, "has a Bun that it does not name;"],
    [{ "glovebox.bun": `1${"0".repeat(50)}` }, "has a Bun that it does not name;"],
  ])("tells of %j and of the command that renews it", (labels, what) => {
    const [finding, ...others] = imageFindings("podman", labels);
    expect(others).toEqual([]);
    expect(finding).toMatchObject({ severity: "note", fix: expect.stringContaining("images build --engine podman") });
    expect(finding?.what).toContain(what);
    expect(finding?.what).toContain(bunVersion);
  });
});
