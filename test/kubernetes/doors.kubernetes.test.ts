import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectMcp, revisions, type McpConnection } from "../helpers/mcp-client.ts";
import { serveGlovebox, type ServedGlovebox } from "../helpers/served-glovebox.ts";
import { sessionImages, testImages } from "../helpers/test-images.ts";
import { until } from "../helpers/until.ts";
import { clusterApi, clusterEnvironment } from "./cluster-environment.ts";

const folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), "glovebox-test-doors-")));
writeFileSync(path.join(folder, "test_a.py"), "def test_a():\n    pass\n\ndef test_b():\n    assert 1 == 2\n");
afterAll(() => rmSync(folder, { recursive: true }));

const variables = clusterEnvironment({
  GLOVEBOX_IMAGE_SESSION: sessionImages.session,
  GLOVEBOX_PROJECT_ROOTS: folder,
});
const forever = "import time\nprint('begun', flush=True)\ntime.sleep(600)";

type Ask = (name: string, request: Readonly<Record<string, unknown>>) => Promise<unknown>;

/** What both doors do alike; `ask` throws what a door refuses. */
function workloads(ask: () => Ask): void {
  it("run a program to its end, and end one that takes too long", async () => {
    const python = { language: "python" };
    const code = "import sys; print(sys.stdin.read()); sys.exit(3)";
    const failed = await ask()("execute_code", { ...python, code, stdin: "typed" });
    expect(failed).toMatchObject({ outcome: "failed", exit_code: 3, stdout: "typed\n", engine: "kubernetes" });
    const late = await ask()("execute_code", { ...python, code: forever, timeout_seconds: 1 });
    expect(late).toMatchObject({ outcome: "timed_out", stdout: "begun\n" });
  });

  it("keep a session's files and variables over a call that took too long", async () => {
    const keep = { language: "python", keep_variables: true };
    const first = await ask()("run_code", { ...keep, code: "x = 20\nopen('kept', 'w').write('here')" });
    expect(first).toMatchObject({ outcome: "completed", engine: "kubernetes" });
    const { session_id } = first as { readonly session_id: string };
    const run = (code: string, more: object = {}) =>
      ask()("run_code", { session_id, language: "python", code, ...more });
    const second = await run("print(open('kept').read(), x + 1)");
    expect(second).toMatchObject({ stdout: "here 21\n", restarted: false });
    expect(await run(forever, { timeout_seconds: 1 })).toMatchObject({ outcome: "timed_out" });
    expect(await run("print(open('kept').read())")).toMatchObject({ stdout: "here\n", restarted: false });
    expect(await ask()("end_session", { session_id })).toMatchObject({ session_id });
  });

  it("run the tests of a project on a copy", async () => {
    const answer = await ask()("run_tests", { project_path: folder, image: testImages.python });
    expect(answer).toMatchObject({ verdict: "failed", passed: 1, failed: 1, engine: "kubernetes" });
  });

  it("write, list, change and read files of an environment, and refuse what a pod has not", async () => {
    const request = { image: testImages.python, read_only_root: true };
    const { env_id } = (await ask()("create_environment", request)) as { readonly env_id: string };
    await ask()("write_file", { env_id, path: "src/a.txt", content: "one\n" });
    const command = ["sh", "-c", "cat src/a.txt; echo two >src/b.txt; touch /etc/x"];
    const ran = await ask()("run_command", { env_id, command });
    expect(ran).toMatchObject({
      outcome: "failed",
      stdout_tail: "one\n",
      stderr_tail: expect.stringMatching(/ead-only/),
    });
    expect(await ask()("read_file", { env_id, path: "src/b.txt" })).toMatchObject({ content: "two\n" });
    const listed = JSON.stringify(await ask()("list_files", { env_id, path: "src" }));
    expect(listed).toMatch(/a\.txt.*b\.txt/);
    const late = await ask()("run_command", { env_id, command: ["sleep", "600"], timeout_seconds: 1 });
    expect(late).toMatchObject({ outcome: "timed_out", restarted: false });
    await ask()("destroy_environment", { env_id });
    await expect(ask()("read_file", { env_id, path: "src/b.txt" })).rejects.toThrow(/NOT_FOUND/);
    await expect(ask()("create_environment", { image: testImages.python })).rejects.toThrow(
      /UNSUPPORTED.*read_only_root/s,
    );
  });
}

describe("over HTTP a cluster's sandboxes", { timeout: 240_000 }, () => {
  let served: ServedGlovebox;
  beforeAll(async () => (served = await serveGlovebox(variables, undefined, "kubernetes")));
  afterAll(() => served[Symbol.asyncDispose]());

  const routes: Readonly<Record<string, string>> = {
    execute_code: "POST /api/sandbox/execute",
    open_session: "POST /api/sessions",
    run_code: "POST /api/sessions/{session_id}/runs",
    end_session: "DELETE /api/sessions/{session_id}",
    run_tests: "POST /api/sandbox/test",
    create_environment: "POST /api/environments",
    write_file: "PUT /api/environments/{env_id}/files",
    read_file: "GET /api/environments/{env_id}/files/{path}",
    list_files: "GET /api/environments/{env_id}/files",
    run_command: "POST /api/environments/{env_id}/commands",
    destroy_environment: "DELETE /api/environments/{env_id}",
  };
  const ask: Ask = async (name, request) => {
    // Over HTTP a session is opened by a call of its own.
    if (name === "run_code" && !("session_id" in request)) {
      const { keep_variables, ...rest } = request;
      const opened = (await ask("open_session", { keep_variables })) as { readonly session_id: string };
      return ask(name, { ...rest, session_id: opened.session_id });
    }
    const [method = "", template = ""] = (routes[name] ?? "").split(" ");
    const rest: Record<string, unknown> = { ...request };
    const filled = template.replace(/\{(\w+)\}/g, (_, field: string) => {
      const value = String(rest[field]);
      delete rest[field];
      return encodeURIComponent(value);
    });
    const query = method === "GET" ? `?${new URLSearchParams(rest as Record<string, string>).toString()}` : "";
    const body = method === "GET" || method === "DELETE" ? undefined : rest;
    const answer = await served.call(method, `${filled}${query}`, body);
    if (answer.status >= 400) throw new Error(JSON.stringify(answer.body));
    return answer.body;
  };
  workloads(() => ask);

  it("end with a client that goes away", async () => {
    const api = clusterApi(variables);
    const leave = new AbortController();
    const answer = await fetch(`${served.url}/api/sandbox/execute`, {
      method: "POST",
      headers: {
        ...{ authorization: `Bearer ${served.token}`, "content-type": "application/json" },
        accept: "application/x-ndjson",
      },
      body: JSON.stringify({ language: "python", code: forever, timeout_seconds: 300 }),
      signal: leave.signal,
    });
    const isLive = async (name: string): Promise<boolean> =>
      (await api.call("look", { method: "GET", path: await api.path("pods", name) }, [404])).status !== 404;
    let text = "";
    for await (const chunk of answer.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      if (text.includes("begun")) break;
    }
    const name = `glovebox-${/sbx-\w+/.exec(text)?.[0] ?? ""}`;
    expect(await isLive(name)).toBe(true);
    leave.abort();
    await until(async () => !(await isLive(name)));
    api.close();
  });
});

describe("over MCP a cluster's sandboxes", { timeout: 240_000 }, () => {
  const home = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-doors-state-"));
  let agent: McpConnection;
  beforeAll(async () => {
    const own = { XDG_STATE_HOME: home, XDG_CONFIG_HOME: home };
    agent = await connectMcp(revisions[1], ["--engine", "kubernetes", "--tools", "all"], { ...variables, ...own });
  });
  afterAll(async () => {
    await agent.client.close();
    rmSync(home, { recursive: true });
  });
  workloads(() => async (name, request) => {
    const answer = await agent.call(name, request);
    if (answer.isError === true) throw new Error(JSON.stringify(answer.content));
    return answer.structuredContent;
  });
});
