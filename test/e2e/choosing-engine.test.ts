import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import type { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { gloveboxCommand } from "../helpers/glovebox-command.ts";
import { createGlovebox } from "../helpers/wire-glovebox.ts";
import { gloveboxEnvironment } from "../helpers/mcp-client.ts";
import { projectFolder } from "../helpers/project-folder.ts";
import { runCommand } from "../helpers/run-command.ts";

/** Variables with which no container engine answers. */
const noEngines = { DOCKER_HOST: "unix:///nonexistent/docker.sock", CONTAINER_HOST: "unix:///nonexistent/podman.sock" };
const howToStart =
  /docker: .*(systemctl start docker|Docker Desktop).*podman: .*(podman system service|podman machine)/s;

interface Answered {
  readonly answer: string;
  /** What the server wrote to stderr before it ended. */
  readonly log: string;
}

/** Calls one tool of a server over stdio. */
async function callOnce(
  tool: string,
  request: Record<string, unknown>,
  argv: readonly string[] = [],
): Promise<Answered> {
  const transport = new StdioClientTransport({
    command: gloveboxCommand,
    args: ["mcp", ...argv],
    env: gloveboxEnvironment(noEngines),
    stderr: "pipe",
  });
  const log = text(transport.stderr as Readable);
  const client = new Client({ name: "test", version: "1" });
  await client.connect(transport);
  const { content } = await client.callTool({ name: tool, arguments: request });
  await client.close();
  return { answer: JSON.stringify(content), log: await log };
}

describe("an MCP server does not start", () => {
  it.each([
    ["in container mode", [], { EXECUTION_MODE: "container" }, howToStart],
    ["in container mode, with auto named", ["--engine", "auto"], { EXECUTION_MODE: "container" }, howToStart],
    ["with an engine that a flag names", ["--engine", "docker"], {}, /systemctl start docker|Docker Desktop/],
    [
      "with an engine that a variable names",
      [],
      { CONTAINER_RUNTIME: "podman" },
      /podman system service|podman machine/,
    ],
    ["over HTTP in container mode", ["--http", "0"], { EXECUTION_MODE: "container" }, howToStart],
  ] as const)("%s when none answers, and says how to start it", async (_, argv, environment, instructions) => {
    const result = await runCommand(["mcp", ...argv], { environment: { ...noEngines, ...environment } });
    expect(result).toMatchObject({ exitCode: 125, stdout: "" });
    expect(result.stderr).toMatch(/ENGINE_UNAVAILABLE/);
    expect(result.stderr).toMatch(instructions);
    expect(result.stderr).not.toMatch(/ECONNREFUSED|ENOENT|isolation preload/);
  });

  it("with an engine that there is not, and lists those there are", async () => {
    const { exitCode, stdout, stderr } = await runCommand(["mcp", "--engine", "nope"]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toContain("expected one of auto, docker, podman, apple, kubernetes, local");
    await expect(createGlovebox({ engine: "nope" })).rejects.toMatchObject({ errorType: "INVALID_REQUEST" });
  });
});

describe("without a container engine", () => {
  it("an MCP server outside container mode starts, and runs one-shots in namespaces", async () => {
    const { answer } = await callOnce("execute_code", { language: "python", code: "print(6 * 7)" });
    expect(answer).toContain("42");
    expect(answer).toContain("No container engine answers (docker, podman)");
    expect(answer).not.toContain("preload");
  });

  it("an environment is refused with how to start one, to the client and in the log", async () => {
    const { answer, log } = await callOnce("create_environment", { image: "any" });
    expect(answer).toContain("ENGINE_UNAVAILABLE");
    for (const told of [answer, log]) {
      expect(told).toMatch(howToStart);
      expect(told).not.toMatch(/ECONNREFUSED|ENOENT/);
    }
  });

  it("the command line's auto falls back to namespaces and says so on stderr, but never in container mode", async () => {
    const run = ["run", "--engine", "auto", "-c", "print(6 * 7)"];
    const fallen = await runCommand(run, { environment: noEngines });
    expect(fallen).toMatchObject({ exitCode: 0, stdout: "42\n" });
    expect(fallen.stderr).toContain("No container engine answers (docker, podman): using the embedded sandbox");
    const container = { ...noEngines, EXECUTION_MODE: "container", GLOVEBOX_MIN_ISOLATION: "preload" };
    const refused = await runCommand(run, { environment: container });
    expect(refused).toMatchObject({ exitCode: 125, stdout: "" });
    expect(refused.stderr).toMatch(howToStart);
  });

  it("a person at a terminal is told once a day, and a quiet command tells nothing but results and errors", async () => {
    const state = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-state-"));
    const terminal = path.join(projectFolder, "test/fixtures/terminal/in-terminal.py");
    const environment = { ...noEngines, XDG_STATE_HOME: state };
    const drawn = async (...argv: readonly string[]): Promise<string> => {
      const command = ["python3", terminal, gloveboxCommand];
      const { stdout } = await runCommand(["run", ...argv], { environment, command });
      return stdout.replaceAll("\r", "");
    };
    const print = ["-c", "print(6 * 7)"];
    expect(await drawn("-q", ...print)).toBe("42\n");
    expect(await drawn(...print)).toMatch(
      /^glovebox: No container engine answers[^]*\n42\n(?:glovebox: Engine local .*\n)*glovebox: such limits .* once a day/,
    );
    expect(await drawn(...print)).toBe("42\n");
    expect((await runCommand(["run", ...print], { environment })).stderr).toContain("No container engine answers");
    expect(await drawn("-q", "-c", "raise SystemExit(open('/none'))")).toContain("FileNotFoundError");
    const refused = await runCommand(["run", "-q", "--memory", "1k", ...print], { environment });
    expect(refused).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("--memory") });
    rmSync(state, { recursive: true, force: true });
  });
});
