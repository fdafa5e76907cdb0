import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { success, useAgents } from "../helpers/agent-scene.ts";
import { gloveboxCommand } from "../helpers/glovebox-command.ts";
import { connectMcp, revisions } from "../helpers/mcp-client.ts";
import { runCommand } from "../helpers/run-command.ts";
import { serveGlovebox, type ServedGlovebox } from "../helpers/served-glovebox.ts";
import type { SandboxRow } from "../helpers/wire-glovebox.ts";
import { rareTag } from "../lanes/lanes.ts";

const rare = { tags: [rareTag] };

describe("agents at the doors, on docker", { timeout: 120_000 }, () => {
  const { folder, image, run } = useAgents({ engine: "docker" });
  const environment = { GLOVEBOX_AGENT_DIRECTORY: folder, GLOVEBOX_AGENT_IMAGE: image };
  const script = `echo working; ${success("it is done")}`;
  let served: ServedGlovebox;
  let problem: unknown = null;
  beforeAll(async () => {
    try {
      served = await serveGlovebox(environment, undefined, "docker");
    } catch (error) {
      problem = error;
    }
  });
  beforeEach(() => {
    if (problem !== null) throw problem as Error;
  });
  afterAll(async () => (served as ServedGlovebox | undefined)?.[Symbol.asyncDispose]());

  it("answer over HTTP, and refuse what is wrong by its field", async () => {
    const { status, body } = await served.call("POST", "/api/agent/run", { group: "family", prompt: script });
    expect([status, body]).toEqual([
      200,
      expect.objectContaining({ status: "success", result: "it is done", output: "working\n" }),
    ]);
    const wrong = await served.call("POST", "/api/agent/run", { group: "../other", prompt: script });
    expect([wrong.status, JSON.stringify(wrong.body)]).toEqual([400, expect.stringContaining("group")]);
  });

  it("answer over MCP", async () => {
    const connection = await connectMcp(revisions[0], ["--engine", "docker", "--tools", "agent"], environment);
    const { structuredContent } = await connection.call("run_agent", { group: "family", prompt: script });
    expect(structuredContent).toMatchObject({ status: "success", result: "it is done" });
    await connection.client.close();
  });

  it("glovebox agent run says what the agent does, prints its last word and ends with 0", async () => {
    const command = ["agent", "run", "--engine", "docker", "--group", "family"];
    const good = await runCommand([...command, script], { environment });
    expect(good).toMatchObject({ exitCode: 0, stdout: "it is done\n" });
    expect(good.stderr).toMatch(/^working$/m);
    expect(good.stderr).toMatch(/glovebox: success \(completed\); log: groups\/family\/logs\//);
    const silent = await runCommand(command, { environment, stdin: "true" });
    expect(silent).toMatchObject({ exitCode: 1, stdout: "", stderr: expect.stringContaining("without an answer") });
    const wrong = await runCommand(["agent", "run", "--engine", "docker", "--group", "..", script], { environment });
    expect(wrong).toMatchObject({ exitCode: 2, stderr: expect.stringContaining("group") });
  });

  it("are listed, measured, logged, removed and swept like every sandbox, with nothing left", rare, async () => {
    const stateHome = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-state-"));
    const variables = { ...environment, XDG_STATE_HOME: stateHome, PI_MODEL: "m" };
    const start = async (): Promise<{
      readonly child: ChildProcess;
      readonly id: string;
      readonly exit: Promise<unknown>;
    }> => {
      const words = ["agent", "run", "--engine", "docker", "--group", "family", "echo up; sleep 600"];
      const child = spawn(gloveboxCommand, words, {
        env: { ...process.env, ...variables },
        stdio: ["ignore", "ignore", "pipe"],
      });
      const exit = once(child, "exit");
      const said = createInterface({ input: child.stderr });
      for await (const line of said) if (line === "up") break;
      const { stdout } = await runCommand(["ps", "--json", "--engine", "docker"], { environment: variables });
      const rows = (JSON.parse(stdout) as { sandboxes: readonly SandboxRow[] }).sandboxes;
      const own = rows.filter(({ owner }) => owner === "living");
      expect(own).toMatchObject([{ kind: "agent", engine: "docker", principal: "local", running: true }]);
      return { child, id: own[0]?.sandbox_id ?? "none", exit };
    };
    const left = (id: string): string =>
      execFileSync("docker", ["ps", "-aq", "--filter", `label=glovebox.sandbox=${id}`], { encoding: "utf8" }) +
      execFileSync("find", [stateHome, "-name", "env"], { encoding: "utf8" });
    try {
      const first = await start();
      const stats = await runCommand(["stats", first.id, "--once", "--json"], { environment: variables });
      expect(stats).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(first.id) });
      const logs = await runCommand(["logs", first.id], { environment: variables });
      expect(logs).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("up") });
      expect(left(first.id)).not.toBe("");
      const removed = await runCommand(["rm", first.id], { environment: variables });
      expect(removed).toMatchObject({ exitCode: 0, stdout: `${first.id}\n` });
      expect(await first.exit).toEqual([125, null]);
      expect(left(first.id)).toBe("");
      const killed = await start();
      killed.child.kill("SIGKILL");
      await killed.exit;
      expect(await runCommand(["prune"], { environment: variables })).toMatchObject({ exitCode: 0 });
      expect(left(killed.id)).toBe("");
    } finally {
      rmSync(stateHome, { recursive: true });
    }
  });

  it("report what the agent does while it works", async () => {
    const told: string[] = [];
    const result = await run(script, {}, { onEvent: ({ type }) => void told.push(type) });
    expect(result.status).toBe("success");
    expect(told.indexOf("sandbox")).toBeLessThan(told.indexOf("output"));
    expect(told).toContain("output");
  });
});
