import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createGlovebox, type DoctorEngine, type DoctorResponse } from "../helpers/wire-glovebox.ts";
import { doctorResponseSchema } from "../../src/operations/doctor-contract.ts";
import { engines } from "../helpers/open-glovebox.ts";
import { skipOrFail } from "../helpers/require.ts";
import { testImages } from "../helpers/test-images.ts";
import { runCommand, type CommandResult } from "../helpers/run-command.ts";
import { TcpForwarder } from "../helpers/tcp-forwarder.ts";

const nowhere = { DOCKER_HOST: "unix:///nonexistent/docker.sock" };
const dockerSocket = "/var/run/docker.sock";

let folder = "";

beforeAll(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-"));
});

afterAll(() => rmSync(folder, { recursive: true }));

async function doctor(
  environment: Readonly<Record<string, string>> = {},
  ...argv: readonly string[]
): Promise<CommandResult> {
  return runCommand(["doctor", ...argv], { cwd: folder, environment });
}

async function diagnosis(environment: Readonly<Record<string, string>> = {}): Promise<DoctorResponse> {
  const { stdout, stderr } = await doctor(environment, "--json");
  expect(stderr).toBe("");
  expect(stdout.trimEnd().split("\n")).toHaveLength(1);
  return doctorResponseSchema.strict().parse(JSON.parse(stdout));
}

function engineOf({ engines: found }: DoctorResponse, name: string): DoctorEngine {
  const engine = found.find((candidate) => candidate.name === name);
  if (engine === undefined) throw new Error(`${name} is missing.`);
  return engine;
}

/** Parts that each engine must report. */
const componentsOf: Readonly<Record<(typeof engines)[number], readonly string[]>> = {
  docker: ["Docker Engine", "runc"],
  podman: ["Podman Engine", "Conmon"],
  local: ["bubblewrap"],
};

describe("glovebox doctor", () => {
  it("reports an outdated agent image, and images lists it", async (context) => {
    const name = "docker";
    const found = engineOf(await diagnosis(), name);
    if (!found.available) skipOrFail(context, name, found.reason ?? "no reason");
    const image = "glovebox-agent:opencode";
    const label = ["--label", "glovebox.agent=opencode@0.1.0"];
    execFileSync(name, ["build", "-q", "-t", image, ...label, "-"], {
      input: `FROM ${testImages.python}`,
      stdio: "pipe",
    });
    try {
      const findings = engineOf(await diagnosis(), name).findings.filter(({ what }) => what.includes(image));
      expect(findings).toMatchObject([
        {
          severity: "note",
          what: expect.stringContaining("opencode@0.1.0, not opencode@"),
          fix: `Rebuild it: \`glovebox images build --engine ${name} ${image}\`.`,
        },
      ]);
      const { stdout } = await runCommand(["images", "--engine", name, "--json"]);
      const { images } = JSON.parse(stdout) as { images: readonly object[] };
      expect(images).toContainEqual({ image, used_for: [], engine: name, present: true });
      expect(images).toContainEqual(expect.objectContaining({ image: "glovebox-agent", used_for: ["agent"] }));
    } finally {
      execFileSync(name, ["rmi", "-f", image], { stdio: "pipe" });
    }
  });

  it.for(engines)("says what %s is and enforces", async (name, context) => {
    const engine = engineOf(await diagnosis(), name);
    if (!engine.available) skipOrFail(context, name, engine.reason ?? "no reason");
    expect(engine).toMatchObject({
      usable: true,
      version: expect.stringMatching(/\d+\.\d+/),
      isolation: name === "local" ? "namespaces" : "container",
      capabilities: { seccomp: "yes", read_only_root: "yes", no_network: "yes", scratch: "memory" },
    });
    const parts = engine.components?.map((component) => component.name);
    expect(parts).toEqual(expect.arrayContaining([...componentsOf[name]]));
    for (const { what, why, fix } of engine.findings) {
      for (const sentence of [what, why, fix]) expect(sentence).toMatch(/^[A-Za-z].*\.$/);
    }
  });

  it("names every engine of the product, and how to start those that are down", async () => {
    const found = await diagnosis(nowhere);
    expect(found.engines.map((engine) => engine.name)).toEqual(["docker", "podman", "apple", "kubernetes", "local"]);
    expect(engineOf(found, "docker")).toEqual({
      name: "docker",
      available: false,
      usable: false,
      reason: expect.stringContaining("DOCKER_HOST does not exist"),
      how_to_start: expect.stringMatching(/systemctl start docker|open -a Docker|Docker Desktop/),
      findings: [],
    });
    for (const engine of found.engines) {
      expect(engine.available || (engine.reason ?? "") !== "").toBe(true);
    }
    expect(JSON.stringify(found)).not.toMatch(/nonexistent|ENOENT/);
  });

  it("says which engine auto takes, and succeeds only when there is one to run on", async () => {
    const found = await diagnosis(nowhere);
    const { own_machine: ownMachine, container_mode: containerMode } = found.chosen_engine;
    expect(containerMode.engine).not.toBe("local");
    expect(containerMode.engine !== null || /docker/i.test(containerMode.why)).toBe(true);
    const usable = engineOf(found, ownMachine.engine ?? "local").usable;
    const { exitCode, stdout } = await doctor(nowhere);
    expect(exitCode).toBe(usable ? 0 : 125);
    expect(stdout).toContain(usable ? `uses ${ownMachine.engine}` : "Not ready");
    const named = await doctor({ ...nowhere, CONTAINER_RUNTIME: "docker" }, "--json");
    expect(named.exitCode).toBe(125);
    expect(JSON.parse(named.stdout)).toMatchObject({
      chosen_engine: { default: { asked: "docker", engine: null, why: expect.stringContaining("DOCKER_HOST") } },
    });
  });

  it("is not ready where HOME has no room for the state folder, in the words of the refused run", async () => {
    const file = path.join(folder, "home");
    writeFileSync(file, "");
    const environment = { ...nowhere, HOME: file, XDG_STATE_HOME: "" };
    const run = await runCommand(["run", "--engine", "local", "-c", "print(1)"], { cwd: folder, environment });
    expect(run).toMatchObject({ exitCode: 125, stdout: "" });
    const { exitCode, stdout } = await doctor(environment, "--json");
    const { refused } = doctorResponseSchema.parse(JSON.parse(stdout));
    expect(exitCode).toBe(125);
    expect(refused?.fix).toMatch(/^Set HOME, or XDG_STATE_HOME /);
    expect(run.stderr).toBe(`glovebox: PERMISSION_DENIED: ${refused?.why}\n  ${refused?.fix}\n`);
    const shown = await doctor(environment);
    expect(shown.exitCode).toBe(125);
    expect(shown.stdout).toMatch(/^Glovebox .*\n\nNot ready: /);
  });

  it("warns of an engine over plain TCP", async (context) => {
    if (!existsSync(dockerSocket)) return skipOrFail(context, "docker", "no socket at its default place");
    using forwarder = await TcpForwarder.to(dockerSocket);
    const engine = engineOf(await diagnosis({ DOCKER_HOST: `tcp://127.0.0.1:${forwarder.port}` }), "docker");
    expect(engine).toMatchObject({ available: true, reached_by: "tcp, DOCKER_HOST" });
    expect(engine.findings).toContainEqual(
      expect.objectContaining({ severity: "warning", what: expect.stringContaining("plain TCP") }),
    );
  });

  it("shows the configuration that counts and where each value comes from", async () => {
    const file = path.join(folder, "config.json");
    writeFileSync(file, JSON.stringify({ log_level: "info", max_containers: 5 }));
    const environment = { GLOVEBOX_CONFIG: file, MAX_CONTAINERS: "3" };
    const { configuration } = await diagnosis(environment);
    expect(configuration.file).toBe(file);
    expect(configuration.settings).toEqual(
      expect.arrayContaining([
        { key: "max_containers", variable: "MAX_CONTAINERS", value: 3, source: "environment" },
        { key: "log_level", variable: "GLOVEBOX_LOG_LEVEL", value: "info", source: "file" },
        { key: "queue.limit", variable: "GLOVEBOX_QUEUE_LIMIT", value: 100, source: "default" },
      ]),
    );
    const { stdout } = await doctor(environment);
    expect(stdout).toMatch(/max_containers +3 \(environment, MAX_CONTAINERS\)/);
    expect(stdout).toMatch(/log_level +"info" \(file\)/);
    expect(stdout).not.toContain("queue.limit");
    expect((await doctor(environment, "--all")).stdout).toMatch(/queue\.limit +100 \(default\)/);
  });

  it("fits a terminal", async () => {
    const { stdout, stderr } = await doctor();
    expect(stderr).toBe("");
    expect(stdout).toMatch(/^[\n -~]*$/);
    const wide = stdout.split("\n").filter((line) => line.length > 80 && line.trim().includes(" "));
    expect(wide).toEqual([]);
  });

  it("reports a bad configuration by name, as every command does", async () => {
    const environment = { MAX_CONTAINERS: "many", GLOVEBOX_LOG_LEVEL: "loud" };
    const { exitCode, stdout, stderr } = await doctor(environment);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toMatch(/max_containers[^]*log_level/);
    const json = await doctor(environment, "--json");
    expect(json).toMatchObject({ exitCode: 2, stderr: "" });
    expect(JSON.parse(json.stdout)).toMatchObject({ error: { error_type: "INVALID_REQUEST" } });
  });
});

describe("the library's doctor", () => {
  it("answers the same, for the engine that the library was opened with", async () => {
    await using glovebox = await createGlovebox({ engine: "apple", settings: { max_containers: 7 } });
    const found = await glovebox.doctor();
    expect(doctorResponseSchema.strict().parse(found)).toEqual(found);
    expect(found.chosen_engine.default).toMatchObject({ asked: "apple" });
    expect(found.configuration.settings).toContainEqual(
      expect.objectContaining({ key: "max_containers", value: 7, source: "flag" }),
    );
  });

  it("can be cancelled", async () => {
    await using glovebox = await createGlovebox();
    await expect(glovebox.doctor({ signal: AbortSignal.abort() })).rejects.toMatchObject({ errorType: "CANCELLED" });
  });
});
