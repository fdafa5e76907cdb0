import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect, createGlovebox, type Glovebox } from "../../src/index.ts";
import { useEnvironments } from "../helpers/environment-scene.ts";
import { startHttpServer, type HttpServerProcess } from "../helpers/http-server.ts";
import { connectMcp, revisions } from "../helpers/mcp-client.ts";

/** What a shell would change and a program gets as it is. */
const literal = "$HOME | `id` 'x'";

describe.each(["docker", "podman"] as const)("commands of environments on %s", (engine) => {
  const scene = useEnvironments(engine);

  it("are shell lines or lists, also those that prepare them", async () => {
    const write = ["python3", "-c", "open('/made/list', 'w').write(__import__('sys').argv[1])", literal];
    await using environment = await scene.open({ setup_commands: ["mkdir /made && echo a > /made/line", write] });
    const { environments, id } = environment;
    const ran = async (command: string | string[]) =>
      (await environments.runCommand({ env_id: id, command })).stdout_tail;
    expect(await ran("cat /made/line | tr a b; cat /made/list")).toBe(`b\n${literal}`);
    expect(await ran(["printf", "%s", literal])).toBe(literal);
    const started = await scene.glovebox().processes.start({ env_id: id, command: "cat >/tmp/got; sleep 60" });
    expect(started.command).toEqual(["sh", "-c", "cat >/tmp/got; sleep 60"]);
    const { sandbox_id: sandbox } = environment;
    const exec = (command: string | string[]) => scene.glovebox().live.exec({ sandbox_id: sandbox, command });
    expect(await exec("echo a | tr a b; exit 3")).toMatchObject({ stdout: "b\n", exit_code: 3 });
    expect(await exec(["printf", "%s", literal])).toMatchObject({ stdout: literal, exit_code: 0 });
  });
});

describe("a command is a shell line or a list", () => {
  let projects = "";
  let server: HttpServerProcess;
  beforeAll(async () => {
    projects = realpathSync(mkdtempSync(path.join(os.tmpdir(), "glovebox-test-")));
    mkdirSync(path.join(projects, "shop"));
    const files = {
      "a b.test.mjs": 'import test from "node:test"; test("adds", () => {});',
      "serve.mjs":
        'import http from "node:http"; http.createServer((_, r) => r.end(process.argv[2])).listen(process.env.PORT);',
    };
    for (const [name, text] of Object.entries(files)) writeFileSync(path.join(projects, "shop", name), text);
    server = await startHttpServer(["--engine", "local"], { GLOVEBOX_PROJECT_ROOTS: projects });
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    rmSync(projects, { recursive: true });
  });
  const project = (): string => path.join(projects, "shop");
  const doors = {
    "the library": (): Promise<Glovebox> =>
      createGlovebox({ engine: "local", settings: { project_roots: [projects] } }),
    "the client of a server": (): Promise<Glovebox> =>
      Promise.resolve(connect({ url: server.url, key: server.headers["authorization"]?.replace("Bearer ", "") })),
  };

  it.each(Object.keys(doors) as (keyof typeof doors)[])("in %s", async (door) => {
    await using glovebox = await doors[door]();
    const name = `forms-${randomUUID()}`;
    await using session = await glovebox.sessions.open({ name });
    await session.run({ language: "python", code: "1" });
    const sandbox = glovebox.sandboxes.get(name);
    expect(await sandbox.run("echo a | tr a b")).toMatchObject({ stdout: "b\n" });
    expect(await sandbox.run(["printf", "%s", literal])).toMatchObject({ stdout: literal });
    expect(await sandbox.run({ command: "pwd", cwd: "/tmp" })).toMatchObject({ stdout: "/tmp\n" });
    await using process = await session.processes.start("echo a | tr a b; sleep 60");
    expect(process.details?.command).toEqual(["sh", "-c", "echo a | tr a b; sleep 60"]);
    const test = { projectPath: project(), setupCommand: [] };
    for (const testCommand of [["node", "--test", "a b.test.mjs"], "node --test 'a b.test.mjs'"]) {
      expect(await glovebox.tests.run({ ...test, testCommand })).toMatchObject({ verdict: "passed", passed: 1 });
    }
    await using preview = await glovebox.previews.start({
      ...{ projectPath: project(), command: ["node", "serve.mjs", literal] },
    });
    expect(await preview.status()).toMatchObject({ status: "running" });
  });

  it("over HTTP, and over MCP", async () => {
    const session = (await (await server.ask("POST /api/sessions", {})).json()) as { readonly session_id: string };
    const start = (command: unknown) => server.ask(`POST /api/sessions/${session.session_id}/processes`, { command });
    expect((await start("sleep 60")).status).toBe(200);
    expect((await start(["sleep", "60"])).status).toBe(200);
    const refused = await start(5);
    expect([refused.status, await refused.text()]).toEqual([
      400,
      expect.stringContaining("expected a shell line such as"),
    ]);
    const mcp = await connectMcp(revisions[1], ["--engine", "local", "--tools", "process,test"], {
      GLOVEBOX_PROJECT_ROOTS: projects,
    });
    for (const command of ["sleep 60", ["sleep", "60"]]) {
      expect(await mcp.call("start_process", { command })).toMatchObject({ structuredContent: { state: "running" } });
    }
    const tests = { project_path: project(), test_command: ["node", "--test", "a b.test.mjs"], setup_command: "" };
    expect(await mcp.call("run_tests", tests)).toMatchObject({ structuredContent: { verdict: "passed", passed: 1 } });
    await mcp.client.close();
  });
});
