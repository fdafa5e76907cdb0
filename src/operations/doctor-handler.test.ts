import { describe, expect, it } from "vitest";
import { strongCapabilities } from "../../test/helpers/strong-capabilities.ts";
import { agentLabels, readAgentFiles } from "../workloads/agent/agent-files.ts";
import {
  agentImageFindings,
  demandReport,
  engineReport,
  examineEngine,
  missingEngine,
  settingFindings,
  unmitigated,
  type Measure,
  type Surroundings,
} from "./doctor-handler.ts";
import type { Capabilities, EngineComponent, EngineSetup, EngineConnection } from "../engines/capabilities.ts";
import type { Engine, EngineProbe } from "../engines/engine.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import { doctorResponseSchema } from "./doctor-contract.ts";

const files = await readAgentFiles();
const now = agentLabels("pi", files);

describe("agentImageFindings", () => {
  it("has nothing to say of an image that would be built the same now", async () => {
    expect(agentLabels("pi", await readAgentFiles())).toEqual(now);
    expect(agentImageFindings("docker", { agent: "pi", labels: now }, now)).toEqual([]);
  });

  it.each([
    [{ ...now, "glovebox.agent": "pi@0.1.0" }, /it has pi@0\.1\.0, not pi@\d+\.\d+\.\d+\.$/],
    [{ ...now, "glovebox.agent": "\u001b[2J" }, /it has an agent that it does not name, not pi@/],
    [{ ...now, "glovebox.agent-files": "0" }, /: it has another version of the program that runs the agent\.$/],
    [{}, /does not name, not pi@.*, and it has another version of the program/],
  ])("tells of %j and of the command that renews it", (labels, what) => {
    const [finding, ...others] = agentImageFindings("podman", { agent: "pi", labels }, now);
    expect(others).toEqual([]);
    expect(finding).toMatchObject({
      severity: "note",
      fix: "Rebuild it: `glovebox images build --engine podman glovebox-agent`.",
    });
    expect(finding?.what).toMatch(what);
  });

  it("a changed file of ours makes another digest", () => {
    const changed = files.map((file, index) => (index === 0 ? { ...file, content: Buffer.from("FROM x") } : file));
    expect(agentLabels("pi", changed)["glovebox.agent-files"]).not.toBe(now["glovebox.agent-files"]);
  });
});

function report(change: Partial<Capabilities>): ReturnType<typeof demandReport> {
  return demandReport({ ...strongCapabilities, ...change }, { engine: "docker", minIsolation: "namespaces" });
}

describe("demandReport", () => {
  it("has nothing to say of an engine that meets every demand", () => {
    expect(report({})).toEqual({ usable: true, findings: [] });
  });

  it("notes what something weaker meets, with what can be done about it", () => {
    const memoryLimit = { substitute: "a limit that leaves swap unlimited" };
    const { usable, findings } = report({ memoryLimit, limitsAdvice: "Count swap." });
    expect(usable).toBe(true);
    expect(findings).toEqual([
      expect.objectContaining({
        severity: "note",
        what: expect.stringMatching(/^Engine docker replaces a memory limit with .*swap/),
        fix: "Count swap.",
      }),
    ]);
    expect(report({ memoryLimit }).findings[0]?.fix).toBe("Nothing needs to be done.");
  });

  it.each([
    [{ seccomp: "no" }, /seccomp/],
    [{ isolation: "preload" }, /isolation "preload"/],
  ] as const)("tells when runs are refused: %j", (change, what) => {
    const { usable, findings } = report(change);
    expect(usable).toBe(false);
    expect(findings).toEqual([
      { severity: "warning", what: expect.stringMatching(what), why: expect.any(String), fix: expect.any(String) },
    ]);
  });

  it("passes on what the engine advises about limits that it lacks", () => {
    const { usable, findings } = report({ cpuLimit: "no", limitsAdvice: "Hand them down." });
    expect(usable).toBe(false);
    expect(findings[0]?.fix).toMatch(/^Hand them down\. Or choose/);
  });
});

const capabilities = {
  ...strongCapabilities,
  memoryLimit: { substitute: "a limit that leaves swap unlimited" },
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

const quiet: EngineSetup = {
  connection: { kind: "socket", tls: null, remote: false, origin: "the default socket" },
  kernel: "6.1.0",
  containerRoot: "rootless",
  accessControl: ["apparmor"],
};

function found(setup: EngineSetup, others: Partial<Surroundings> = {}): readonly string[] {
  const kernel = { release: "6.1.0", corePattern: "core", processorFaults: [] };
  return settingFindings({ setup, kernel, isRoot: false, hints: {}, ...others }).map(
    ({ severity, what }) => `${severity}: ${what}`,
  );
}

const tcp: EngineConnection = { kind: "tcp", tls: null, remote: true, origin: "DOCKER_HOST" };

describe("settingFindings", () => {
  it("has nothing to say of a careful set-up, and of one that tells nothing", () => {
    expect(found(quiet)).toEqual([]);
    expect(found({})).toEqual([]);
  });

  it.each([
    [tcp, [/^danger: .*plain TCP \(DOCKER_HOST\)/, /^note: .*another machine/]],
    [{ ...tcp, remote: false }, [/^warning: .*plain TCP/]],
    [{ ...tcp, tls: "unverified" }, [/^danger: .*not verified/, /^note: .*another machine/]],
    [{ ...tcp, tls: "unverified", remote: false }, [/^warning: .*not verified/]],
    [{ ...tcp, tls: "verified" }, [/^note: .*another machine/]],
    [{ ...tcp, tls: "verified", remote: false }, []],
    [{ ...tcp, kind: "ssh" }, [/^note: .*another machine/]],
  ] as const)("of the connection %j", (connection, expected) => {
    const lines = found({ ...quiet, connection });
    expect(lines).toHaveLength(expected.length);
    for (const [index, pattern] of expected.entries()) expect(lines[index]).toMatch(pattern);
  });

  it.each([
    [{ openAddresses: ["http://0.0.0.0:2375"] }, /^danger: .*open to anyone who can reach http:\/\/0\.0\.0\.0:2375/],
    [{ openAddresses: ["http://localhost.example.org:2375"] }, /^danger/],
    [{ openAddresses: ["https://127.0.0.1:2376"] }, /^warning: .*open/],
    [{ openAddresses: ["http://[::1]:2375"] }, /^warning: .*open/],
    [{ accessControl: [] }, /^note: Neither AppArmor nor SELinux/],
    [{ setuid: true }, /^warning: .*setuid/],
  ] as const)("of %j", (change, expected) => {
    expect(found({ ...quiet, ...change })).toEqual([expect.stringMatching(expected)]);
  });

  it("says that there is no user namespace", () => {
    const lines = found({ ...quiet, containerRoot: "root" }, { isRoot: true });
    expect(lines).toEqual([expect.stringMatching(/^note: .*no user namespace/)]);
  });

  it("says what it means that this user may talk to an engine of root's", () => {
    const asRoot = /^note: This user can talk to an engine that runs as root/;
    const remapped = { ...quiet, containerRoot: "remapped" } as const;
    expect(found(remapped)).toEqual([expect.stringMatching(asRoot)]);
    expect(found(remapped, { isRoot: true })).toEqual([]);
    expect(found({ ...remapped, kernel: "6.6.0-linuxkit" }), "root of a machine inside this one").toEqual([]);
  });

  it("minds faults of the processor where sandboxes share this kernel", () => {
    const kernel = { release: "6.1.0", corePattern: "core", processorFaults: ["l1tf", "mds"] };
    expect(found(quiet, { kernel })).toEqual([
      expect.stringMatching(/^note: The processor has unmitigated .*l1tf, mds/),
    ]);
    expect(found({ ...quiet, kernel: "6.6.0-linuxkit" }, { kernel })).toEqual([]);
  });

  it("minds root where sandboxes are this process's own work", () => {
    expect(found({ inProcess: true }, { isRoot: true })).toEqual([expect.stringMatching(/^note: .*as root/)]);
    expect(found({ inProcess: true })).toEqual([]);
    expect(found(quiet, { isRoot: true })).toEqual([]);
  });

  it("minds what a crash starts where sandboxes share this kernel", () => {
    const corePattern = "|/usr/lib/systemd/systemd-coredump %P";
    const kernel = { release: "6.1.0", corePattern, processorFaults: [] };
    expect(found(quiet, { kernel })).toEqual([expect.stringMatching(/^note: A crash starts a host program/)]);
    expect(found({ ...quiet, kernel: "6.6.0-linuxkit" }, { kernel })).toEqual([]);
    expect(found({}, { kernel: { ...kernel, release: null } })).toEqual([]);
  });

  it("gives advice in the engine's own words", () => {
    const setup: EngineSetup = { connection: { ...tcp, kind: "socket" }, kernel: "6.1.0", containerRoot: "root" };
    const kernel = { release: "6.1.0", corePattern: "core", processorFaults: [] };
    const hints = {
      access: "by the group boats",
      userNamespaces: "remap-boats",
      strongerRuntime: { name: "hull", product: "Hull" },
    };
    const told = (words: Surroundings["hints"]): string =>
      JSON.stringify(settingFindings({ setup, kernel, isRoot: false, hints: words }));
    expect(told(hints)).toMatch(/rootless or with user namespaces \(remap-boats\), or install Hull \(hull\)\./);
    expect(told(hints)).toContain("an engine that runs as root (by the group boats).");
    expect(told({})).toContain("Run the engine rootless or with user namespaces.");
  });

  it("names the engine's own way to encrypt", () => {
    const kernel = { release: "6.1.0", corePattern: "core", processorFaults: [] };
    const findings = settingFindings({
      setup: { connection: tcp },
      kernel,
      isRoot: false,
      hints: { encryption: "mTLS" },
    });
    expect(findings[0]?.fix).toMatch(/^Use mTLS, or the local socket/);
  });
});

it("tells the faults of the processor that reach from one program into another", () => {
  const states = [
    ["l1tf", "Vulnerable; SMT vulnerable"],
    ["mds", "Mitigation: Clear CPU buffers; SMT Host state unknown"],
    ["meltdown", "Not affected"],
    ["spec_store_bypass", "Vulnerable"],
    ["spectre_v1", "Vulnerable: __user pointer sanitization disabled"],
    ["unreadable", null],
  ] as const;
  expect(unmitigated(states)).toEqual(["l1tf"]);
});
