import { execFileSync } from "node:child_process";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { describe, expect, it } from "vitest";
import { startHttpMcp } from "../helpers/http-mcp.ts";
import { revisions } from "../helpers/mcp-client.ts";
import { engines, useGlovebox, type TestedEngine } from "../helpers/open-glovebox.ts";
import { useOwnSandboxes } from "../helpers/own-sandboxes.ts";
import { processesWith } from "../helpers/processes.ts";
import { RawMcp } from "../helpers/raw-mcp.ts";
import { sessionImages } from "../helpers/test-images.ts";
import { until } from "../helpers/until.ts";

const sandboxes = useOwnSandboxes();

const settings = (more: Readonly<Record<string, string>> = {}): Record<string, string> => ({
  ...sandboxes.environment(),
  GLOVEBOX_IMAGE_SESSION: sessionImages.session,
  ...more,
});

/** Whether anything is left of a sandbox, according to its engine, or a process that names it. */
async function isLeft(engine: TestedEngine, sandboxId: string): Promise<boolean> {
  // Podman's helper outlives each exec for some time.
  const named = processesWith(
    ([program = "", ...argv]) => !program.endsWith("conmon") && argv.some((argument) => argument.includes(sandboxId)),
  );
  if (named.length > 0) return true;
  if (engine === "local") return (await sandboxes.on(engine)).some((row) => row.sandbox_id === sandboxId);
  return execFileSync(engine, ["ps", "-aq", "--filter", `name=glovebox-${sandboxId}`], { encoding: "utf8" }) !== "";
}

async function call(server: RawMcp, name: string, args: object = {}): Promise<Record<string, unknown>> {
  const { result } = await server.request(`${name}-${Math.random()}`, "tools/call", { name, arguments: args });
  return (result as { readonly structuredContent?: Record<string, unknown> }).structuredContent ?? {};
}

const program = { language: "python", code: "open('kept', 'w').write('x')", packages: [] };

/** A server with a session; its sandbox's id. */
async function openSession(engine: string, more?: Readonly<Record<string, string>>) {
  const server = new RawMcp(["--engine", engine], settings(more));
  await server.initialize();
  const made = await call(server, "run_code", program);
  expect(made).toMatchObject({ outcome: "completed" });
  return { server, id: String(made["sandbox_id"]), sessionId: made["session_id"] };
}

async function hangUp({ child, ended }: RawMcp): Promise<void> {
  child.stdin.end();
  expect(await ended).toBe(0);
}

const ends = {
  "the end of stdin": ({ child }: RawMcp) => void child.stdin.end(),
  SIGINT: ({ child }: RawMcp) => void child.kill("SIGINT"),
  SIGTERM: ({ child }: RawMcp) => void child.kill("SIGTERM"),
  "a client that is gone": ({ child }: RawMcp) => {
    child.stdout.destroy();
    child.stdin.destroy();
  },
};

describe.each(engines)("a session on %s is gone from its engine", (engine) => {
  useGlovebox(engine);

  it.each(Object.keys(ends) as (keyof typeof ends)[])("after %s, and the exit code is 0", async (name) => {
    const { server, id } = await openSession(engine);
    expect(await isLeft(engine, id)).toBe(true);
    ends[name](server);
    expect(await server.ended).toBe(0);
    expect(await isLeft(engine, id)).toBe(false);
  });

  it("after end_session, and the server goes on", async () => {
    const { server, id, sessionId } = await openSession(engine);
    expect(await call(server, "end_session")).toEqual({ session_id: sessionId });
    expect(await isLeft(engine, id)).toBe(false);
    const next = await call(server, "run_code", { ...program, code: "import os\nprint(os.listdir('.'))" });
    expect(next).toMatchObject({ stdout: "[]\n", restarted: false });
    expect(next["session_id"]).not.toBe(sessionId);
    await hangUp(server);
    expect(await isLeft(engine, String(next["sandbox_id"]))).toBe(false);
  });

  it("after its idle time, and the server goes on", async () => {
    const { server, id, sessionId } = await openSession(engine, { GLOVEBOX_SESSION_IDLE_TIMEOUT: "1s" });
    await until(async () => !(await isLeft(engine, id)));
    const { result } = await server.request("old", "tools/call", {
      name: "run_code",
      arguments: { ...program, session_id: sessionId },
    });
    expect(result).toMatchObject({ isError: true, structuredContent: { error: { error_type: "NOT_FOUND" } } });
    await hangUp(server);
  });

  it("after the DELETE of its protocol session over HTTP", async () => {
    const server = await startHttpMcp(["--engine", engine], settings());
    try {
      const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: revisions[0].mode } });
      const transport = new StreamableHTTPClientTransport(new URL(server.url), {
        requestInit: { headers: server.headers },
      });
      await client.connect(transport);
      const { structuredContent } = await client.callTool({ name: "run_code", arguments: program });
      const { sandbox_id: id } = structuredContent as { readonly sandbox_id: string };
      expect(await isLeft(engine, id)).toBe(true);
      await transport.terminateSession();
      await until(async () => !(await isLeft(engine, id)));
      await client.close();
    } finally {
      server.child.kill("SIGTERM");
    }
    expect(await server.ended).toBe(0);
  });
});

describe.each(["docker", "podman"] as const)("an environment on %s is gone from its engine", (engine) => {
  useGlovebox(engine);

  it("after its idle time, and the server goes on", async () => {
    const server = new RawMcp(["--engine", engine], settings({ GLOVEBOX_ENVIRONMENT_IDLE_TIMEOUT: "1s" }));
    await server.initialize();
    const made = await call(server, "create_environment", { env_id: "env", image: sessionImages.python });
    await until(async () => !(await isLeft(engine, String(made["sandbox_id"]))));
    // It is listed until all of it is gone; with Podman that is a moment after the container.
    await expect.poll(() => call(server, "list_environments"), { timeout: 10_000 }).toEqual({ environments: [] });
    await hangUp(server);
  });
});
