import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { text } from "node:stream/consumers";
import type { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { gloveboxCommand } from "../helpers/glovebox-command.ts";
import { createGlovebox } from "../helpers/wire-glovebox.ts";
import { gloveboxEnvironment } from "../helpers/mcp-client.ts";
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
    expect(stderr).toContain("expected one of auto, docker, podman, apple, local");
    await expect(createGlovebox({ engine: "nope" })).rejects.toMatchObject({ errorType: "INVALID_REQUEST" });
  });
});

describe("without a container engine", () => {
  it("an MCP server outside container mode starts, and runs one-shots in namespaces", async () => {
    const { answer } = await callOnce("execute_code", { language: "python", code: "print(6 * 7)" });
    expect(answer).toContain("42");
    expect(answer).toContain("No container engine answers (docker, podman, apple)");
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
    expect(fallen.stderr).toContain("No container engine answers (docker, podman, apple): using the embedded sandbox");
    const container = { ...noEngines, EXECUTION_MODE: "container", GLOVEBOX_MIN_ISOLATION: "preload" };
    const refused = await runCommand(run, { environment: container });
    expect(refused).toMatchObject({ exitCode: 125, stdout: "" });
    expect(refused.stderr).toMatch(howToStart);
  });
});
