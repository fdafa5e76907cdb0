import { describe, expect, it } from "vitest";
import type { DoctorEngine, DoctorResponse } from "../../operations/doctor-contract.ts";
import { doctorReport, isHealthy } from "./doctor-command.ts";

const docker: DoctorEngine = {
  name: "docker",
  available: true,
  usable: true,
  version: "28.2.2",
  isolation: "container",
  capabilities: {
    images: "yes",
    seccomp: "yes",
    memory_limit: "a limit that leaves swap unlimited",
    cpu_limit: "no",
    scratch: "memory",
    a_new_one: "yes",
  },
  components: [{ name: "runc", version: "1.2.5" }],
  reached_by: "socket, the default socket",
  findings: [{ severity: "danger", what: "runc 1.2.5 is old.", why: "It lets programs out.", fix: "Upgrade runc." }],
};

const podman: DoctorEngine = {
  name: "podman",
  available: false,
  usable: false,
  reason: "Podman is not running.",
  how_to_start: "Start it: `podman system service`.",
  findings: [],
};

function response(change: Partial<DoctorResponse> = {}): DoctorResponse {
  const chosen = { asked: "auto", engine: "docker", why: "It is the first that answers." };
  return {
    version: "0.1.0",
    node_version: "24.21.0",
    platform: "linux x64",
    engines: [docker, podman],
    chosen_engine: {
      default: chosen,
      own_machine: chosen,
      container_mode: { asked: "auto", engine: null, why: "No engine can be used." },
    },
    configuration: {
      file: "/etc/glovebox.json",
      settings: [
        { key: "max_containers", variable: "MAX_CONTAINERS", value: 3, source: "environment" },
        { key: "images.python", variable: null, value: "evil\u001b[2Jname", source: "file" },
        { key: "log_level", variable: "GLOVEBOX_LOG_LEVEL", value: "warn", source: "default" },
      ],
    },
    ...change,
  };
}

const chosenBy = (engine: string | null): DoctorResponse["chosen_engine"] => {
  const why = "Because.";
  return { ...response().chosen_engine, default: { asked: "auto", engine, why } };
};

describe("doctorReport", () => {
  it("is this", () => {
    expect(doctorReport(response(), { verbose: true }).split("\n")).toEqual([
      "Glovebox 0.1.0, Node 24.21.0, linux x64",
      "",
      "Ready: `glovebox run` uses docker.",
      "",
      "[ok] docker: 28.2.2, isolation container",
      "     parts:      runc 1.2.5",
      "     reached by: socket, the default socket",
      "     can:        container images, seccomp, a new one",
      "     cannot:     CPU limit",
      "     in part:    memory limit: a limit that leaves swap unlimited",
      "     scratch:    memory",
      "     danger: runc 1.2.5 is old.",
      "       It lets programs out.",
      "       To do: Upgrade runc.",
      "",
      "[--] podman: cannot be used",
      "     why:        Podman is not running.",
      "     start:      Start it: `podman system service`.",
      "",
      "Which engine is used",
      "     no engine named:      docker. It is the first that answers.",
      "     auto, this machine:   docker. It is the first that answers.",
      "     auto, container mode: none. No engine can be used.",
      "",
      "Configuration",
      "     file: /etc/glovebox.json",
      "     max_containers  3 (environment, MAX_CONTAINERS)",
      '     images.python   "evil\\u001b[2Jname" (file)',
      "     1 settings at their defaults: glovebox doctor --all",
    ]);
  });

  it("leaves details out, but no danger, and begins with the verdict", () => {
    const note = { severity: "note", what: "It is so.", why: "It is.", fix: "Nothing." } as const;
    const text = doctorReport(response({ engines: [{ ...docker, findings: [...docker.findings, note] }, podman] }));
    expect(text.split("\n")[2]).toBe("Ready: `glovebox run` uses docker.");
    expect(text).toContain("danger: runc 1.2.5 is old.");
    expect(text).toContain("start:      Start it");
    for (const detail of ["parts:", "can:", "It is so.", "Which engine is used"]) expect(text).not.toContain(detail);
    expect(text).toContain("glovebox doctor --verbose");
  });

  it("puts what only one OCI runtime has under that runtime", () => {
    const only_with = { oci_runtime: "hull", part: "Hull 2.0" };
    const danger = {
      severity: "danger",
      what: "Hull 2.0 has a hole.",
      why: "It leaks.",
      fix: "Upgrade it.",
      only_with,
    } as const;
    const note = { ...danger, severity: "note", what: "It is so." } as const;
    const lines = (findings: DoctorEngine["findings"], verbose = false): readonly string[] =>
      doctorReport(response({ engines: [{ ...docker, findings }, podman] }), { verbose }).split("\n");
    const found = lines([...docker.findings, danger, note]);
    const block = found.indexOf("[!!] Hull 2.0: only for runs with --oci-runtime hull on docker");
    expect(found.slice(block - 1, block + 5)).toEqual([
      "",
      "[!!] Hull 2.0: only for runs with --oci-runtime hull on docker",
      "     danger: Hull 2.0 has a hole.",
      "       It leaks.",
      "       To do: Upgrade it.",
      "",
    ]);
    expect(found.indexOf("     danger: runc 1.2.5 is old.")).toBeLessThan(block);
    expect(lines([note]).join("\n")).not.toContain("Hull");
    expect(lines([note], true).join("\n")).toContain("note: It is so.");
  });

  it("shows defaults when all is asked for", () => {
    const text = doctorReport(response(), { all: true });
    expect(text).toContain('log_level       "warn" (default)');
    expect(text).not.toContain("--all");
  });

  it("is plain ASCII that a terminal prints as it is, whatever an engine says", () => {
    const engine = { ...docker, version: "1\u001b]0;title\u0007", capabilities: {} };
    expect(doctorReport(response({ engines: [engine] }))).toMatch(/^[\n\u0020-\u007e]*$/);
  });
});

describe("isHealthy", () => {
  it.each([
    ["docker", true, true, "Ready"],
    ["docker", false, false, "docker answers, but refuses"],
    [null, true, false, "no engine can be used"],
  ] as const)("with engine %s chosen, usable %s: %s", (engine, usable, healthy, words) => {
    const given = response({ chosen_engine: chosenBy(engine), engines: [{ ...docker, usable }, podman] });
    expect(isHealthy(given)).toBe(healthy);
    expect(doctorReport(given)).toContain(words);
  });

  it("never calls level preload ready, accepted or not", () => {
    for (const usable of [true, false]) {
      const local: DoctorEngine = { ...docker, name: "local", isolation: "preload", usable };
      const given = response({ chosen_engine: chosenBy("local"), engines: [local] });
      expect(isHealthy(given)).toBe(false);
      const text = doctorReport(given);
      expect(text).toContain("[--] local: 28.2.2, isolation preload");
      expect(text).not.toMatch(/\[ok\]|^Ready/m);
      expect(text).toContain(
        usable ? "accepted here but is not a security boundary" : "local answers, but refuses runs",
      );
    }
  });

  it("is not ready where every run is refused, whatever the engines are, and says so first", () => {
    const given = response({ refused: { why: "No folder can be made.", fix: "Set HOME." } });
    expect(isHealthy(response())).toBe(true);
    expect(isHealthy(given)).toBe(false);
    const text = doctorReport(given);
    expect(text.split("\n").slice(2, 5)).toEqual([
      "Not ready: `glovebox run` refuses every run.",
      "     why:        No folder can be made.",
      "     to do:      Set HOME.",
    ]);
    expect(text).not.toMatch(/^Ready/m);
  });

  it("tells an engine that is configured and down from none at all", () => {
    const chosen = { ...response().chosen_engine, default: { asked: "podman", engine: null, why: "It is down." } };
    expect(doctorReport(response({ chosen_engine: chosen }))).toContain("the configured engine podman");
  });
});
