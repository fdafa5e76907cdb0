import { describe, expect, it } from "vitest";
import type { Capabilities } from "../../engines/capabilities.ts";
import type { Engine, EngineProbe } from "../../engines/engine.ts";
import type { EngineComponent, EngineSetup } from "../../engines/engine-setup.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { engineReport, examineEngine, missingEngine, type Measure } from "./examine-engine.ts";
import { doctorResponseSchema } from "./doctor-contract.ts";

const capabilities: Capabilities = {
  isolation: "container",
  images: true,
  seccomp: "yes",
  noNewPrivileges: "yes",
  setuidRefusal: "yes",
  readOnlyRoot: "yes",
  noNetwork: "yes",
  memoryLimit: { substitute: "a limit that leaves swap unlimited" },
  cpuLimit: "yes",
  pidsLimit: "yes",
  scratch: "memory",
  oomReporting: true,
  cpuReporting: true,
  execUser: true,
  hostPaths: true,
  execNetwork: "shared",
  diskLimit: "no",
};

const measure: Measure = {
  minIsolation: "preload",
  kernel: { release: "6.1.0", corePattern: "|/sbin/helper", processorFaults: [] },
  isRoot: false,
  nodeVersion: "24.18.0",
  usesOwnImage: false,
  isTried: true,
};

const probe: EngineProbe = {
  available: true,
  version: "20.10.24+dfsg1",
  capabilities,
  components: [{ name: "runc", version: "1.2.5", build: "v1.2.5-0-g59923ef" }],
  setup: {
    connection: { kind: "tcp", tls: null, remote: true, origin: "DOCKER_HOST" },
    kernel: "6.1.0",
    containerRoot: "rootless",
    accessControl: ["selinux"],
  },
};

/** Only the part of an engine that examining it needs. */
const engineThat = (answer: () => Promise<EngineProbe>): Engine =>
  ({ name: "docker", probe: answer }) as unknown as Engine;

describe("a Node whose permission model is known to be broken", () => {
  const severitiesOf = (setup: EngineSetup, nodeVersion: string, components: readonly EngineComponent[] = []) => {
    const report = engineReport("local", { ...probe, setup, components }, { ...measure, nodeVersion });
    return report.findings.filter(({ what }) => /Node .*CVE/.test(what)).map(({ severity }) => severity);
  };

  it("is a danger where it alone keeps programs in", () => {
    const components = [{ name: "Node", version: "24.18.0" }];
    expect(severitiesOf({ guardsInterpreters: true }, "24.18.0", components)).toEqual(["danger", "warning"]);
    expect(severitiesOf({ guardsInterpreters: true }, "24.22.1", [{ name: "Node", version: "24.22.1" }])).toEqual([]);
  });

  it("is to be known where the kernel seals them, and no matter of other engines", () => {
    expect(severitiesOf({ inProcess: true }, "v24.18.0")).toEqual(["note", "note"]);
    expect(severitiesOf({ inProcess: true }, "24.22.1")).toEqual([]);
    expect(severitiesOf({ containerRoot: "root" }, "24.18.0")).toEqual([]);
  });
});

describe("engineReport", () => {
  it("tells all of an engine that answers, the worst findings first", () => {
    const report = engineReport("docker", probe, measure);
    expect(report).toMatchObject({
      available: true,
      usable: true,
      version: "20.10.24+dfsg1",
      isolation: "container",
      components: [{ name: "runc", version: "1.2.5", build: "v1.2.5-0-g59923ef" }],
      reached_by: "tcp, DOCKER_HOST",
    });
    expect(report.capabilities).toEqual({
      cpu_reporting: "yes",
      host_paths: "yes",
      images: "yes",
      disk_limit: "no",
      seccomp: "yes",
      no_new_privileges: "yes",
      setuid_refusal: "yes",
      read_only_root: "yes",
      no_network: "yes",
      memory_limit: "a limit that leaves swap unlimited",
      cpu_limit: "yes",
      pids_limit: "yes",
      scratch: "memory",
      oom_reporting: "yes",
      exec_user: "yes",
      exec_network: "shared",
    });
    const found = report.findings.map(({ severity, what }) => `${severity}: ${what}`);
    expect(found).toEqual([
      expect.stringMatching(/^danger: runc 1\.2\.5 is known to have CVE-2025-31133/),
      expect.stringMatching(/^danger: .*plain TCP/),
      expect.stringMatching(/^note: Engine docker replaces a memory limit/),
      expect.stringMatching(/^note: runc 1\.2\.5 is known to have CVE-2026-41579/),
      expect.stringMatching(/^note: .*another machine/),
      expect.stringMatching(/^note: A crash starts/),
    ]);
    const { engines } = doctorResponseSchema.shape;
    expect(engines.element.strict().parse(report)).toEqual(report);
  });

  it("knows an engine that answers and refuses runs", () => {
    const report = engineReport("docker", probe, { ...measure, minIsolation: "vm" });
    expect(report).toMatchObject({ available: true, usable: false });
    expect(report.findings).toContainEqual(
      expect.objectContaining({ what: expect.stringContaining('"vm" is required') }),
    );
  });

  it("does without an account of parts and set-up", () => {
    const report = engineReport("apple", { available: true, version: "1", capabilities }, measure);
    expect(report).toMatchObject({ available: true, components: [], findings: [{ severity: "note" }] });
    expect(report).not.toHaveProperty("reached_by");
  });
});

describe("examineEngine", () => {
  const own = { severity: "warning", what: "It lacks a right.", why: "Runs fail.", fix: "Give it." } as const;
  const engineWith = (check: Engine["check"]): Engine =>
    ({
      ...{ name: "kubernetes", images: { has: () => Promise.resolve(false) }, check },
      probe: () => Promise.resolve({ available: true, version: "1", capabilities }),
    }) as unknown as Engine;

  it("has an engine look at itself, where trial requests may be made to it", async () => {
    const engine = engineWith(() => Promise.resolve([own]));
    expect((await examineEngine(engine, measure)).findings).toContainEqual(own);
    const untried = await examineEngine(engine, { ...measure, isTried: false });
    expect(untried.findings).not.toContainEqual(own);
  });

  it("takes a look that fails for a finding, and being given up for that", async () => {
    const error = new GloveboxError("ENGINE_UNAVAILABLE", "It went away.", { suggestion: "Look." });
    const failing = await examineEngine(
      engineWith(() => Promise.reject(error)),
      measure,
    );
    expect(failing.findings).toContainEqual(
      expect.objectContaining({ severity: "warning", what: "It went away.", fix: "Look." }),
    );
    const gone = engineWith(() => Promise.reject(new GloveboxError("CANCELLED", "Given up.")));
    await expect(examineEngine(gone, measure)).rejects.toMatchObject({ errorType: "CANCELLED" });
  });

  const down = { available: false, usable: false, findings: [] };

  it("passes on why an engine does not answer", async () => {
    const engine = engineThat(async () => ({ available: false, reason: "It is off.", howToStart: "Switch it on." }));
    expect(await examineEngine(engine, measure)).toEqual({
      ...down,
      name: "docker",
      reason: "It is off.",
      how_to_start: "Switch it on.",
    });
  });

  it("takes an engine that fails for one that cannot be used, and being given up for that", async () => {
    const late = new GloveboxError("ENGINE_UNAVAILABLE", "Too late.", { suggestion: "Look." });
    const failing = engineThat(() => Promise.reject(late));
    expect(await examineEngine(failing, measure)).toEqual({
      ...down,
      name: "docker",
      reason: "Too late.",
      how_to_start: "Look.",
    });
    const cancelled = engineThat(() => Promise.reject(new GloveboxError("CANCELLED", "Given up.")));
    await expect(examineEngine(cancelled, measure)).rejects.toMatchObject({ errorType: "CANCELLED" });
  });

  it("says of an engine without an adapter that there is none", () => {
    expect(missingEngine("apple")).toEqual({ ...down, name: "apple", reason: expect.stringContaining("this version") });
  });
});
