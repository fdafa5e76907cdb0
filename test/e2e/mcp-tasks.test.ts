import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createTaskSessionFromClient, type ClientSessionPortOptions } from "@modelcontextprotocol/ext-tasks/client";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { startHttpMcp, type HttpMcp } from "../helpers/http-mcp.ts";
import { startKeyServer } from "../helpers/key-server.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { useOwnSandboxes } from "../helpers/own-sandboxes.ts";
import { sleepersFor, uniqueSeconds } from "../helpers/processes.ts";
import { RawMcp, type RawMessage } from "../helpers/raw-mcp.ts";
import { until } from "../helpers/until.ts";

const revision = "2026-07-28";
const extension = "io.modelcontextprotocol/tasks";
const clientInfo = { name: "test", version: "1" };
const sandboxes = useOwnSandboxes();

/** What each request of a client contains that accepts tasks, or does not. */
const meta = (takesTasks = true): object => ({
  "io.modelcontextprotocol/protocolVersion": revision,
  "io.modelcontextprotocol/clientInfo": clientInfo,
  "io.modelcontextprotocol/clientCapabilities": takesTasks ? { extensions: { [extension]: {} } } : {},
});

interface McpRequest {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

const execute = (code: string, more: object = {}): McpRequest => ({
  method: "tools/call",
  params: { name: "execute_code", arguments: { language: "python", code, engine: "local", ...more } },
});
const sleeping = (seconds: string): string => `import subprocess; subprocess.run(["setsid", "sleep", "${seconds}"])`;
const about = (method: string, taskId: unknown): McpRequest => ({ method, params: { taskId } });
const taskIdOf = ({ result }: RawMessage): string => String(result?.["taskId"]);

/** One request over HTTP with the headers that the revision asks for. */
async function post(
  { url, headers }: { readonly url: string; readonly headers: Readonly<Record<string, string>> },
  { method, params }: McpRequest,
): Promise<RawMessage> {
  const response = await fetch(url, {
    method: "POST",
    headers: {
      ...headers,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": revision,
      "mcp-method": method,
      "mcp-name": String(params["taskId"] ?? params["name"]),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { _meta: meta(), ...params } }),
  });
  const text = await response.text();
  const last = text.startsWith("{") ? text : (text.match(/(?<=^data: ).*$/gm)?.at(-1) ?? "{}");
  return JSON.parse(last) as RawMessage;
}

describe("a client of the Tasks extension over HTTP", () => {
  useGlovebox("local");
  let server: HttpMcp;
  let client: Client;
  beforeAll(async () => {
    server = await startHttpMcp(["--engine", "local", "--answer-within", "500ms"], sandboxes.environment());
    client = new Client(clientInfo, { versionNegotiation: { mode: { pin: revision } } });
    await client.connect(
      new StreamableHTTPClientTransport(new URL(server.url), { requestInit: { headers: server.headers } }),
    );
  });
  afterAll(async () => {
    await client.close();
    await server[Symbol.asyncDispose]();
  });

  /** The extension's own client; the server of this test is its endpoint. */
  const openSession = (): ReturnType<typeof createTaskSessionFromClient> => {
    const rawDispatch: ClientSessionPortOptions["rawDispatch"] = async (request) => {
      const { result, error } = await post(server, request as unknown as McpRequest);
      return (error === undefined ? { kind: "result", result } : { kind: "error", error }) as never;
    };
    const framing = { protocolVersion: revision, clientInfo, clientCapabilities: {} };
    return createTaskSessionFromClient(client, { endpointId: "glovebox", rawDispatch, v2RequestFraming: framing });
  };

  it(
    "gets long calls as tasks with their result, short ones at once, and failures as results",
    { timeout: 60_000 },
    async () => {
      const session = openSession();
      try {
        const short = await session.callTool("execute_code", { language: "python", code: "print(1" });
        expect(short.kind).toBe("immediate");
        const code = "import time; print('up', flush=True); time.sleep(2); print(6 * 7); raise SystemExit(3)";
        const long = await session.callTool("execute_code", { language: "python", code });
        expect(long.kind).toBe("task");
        const { outcome } = await long.settle();
        expect(outcome).toMatchObject({
          status: "completed",
          result: { structuredContent: { outcome: "failed", exit_code: 3, stdout: "up\n42\n" } },
        });
        const seconds = uniqueSeconds();
        const cancelled = await session.callTool("execute_code", { language: "python", code: sleeping(seconds) });
        await until(() => sleepersFor(seconds).length > 0);
        await cancelled.cancel();
        expect((await cancelled.settle()).outcome.status).toBe("cancelled");
        await until(() => sleepersFor(seconds).length === 0);
        expect(await sandboxes.on("local")).toEqual([]);
      } finally {
        await session.close();
      }
    },
  );

  it("may go away: the task goes on, and is found again by its id alone", { timeout: 60_000 }, async () => {
    const created = await post(server, execute("import time; time.sleep(2); print('x' * 100_000)"));
    expect(created.result).toMatchObject({
      resultType: "task",
      status: "working",
      ttlMs: null,
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
    });
    expect(created.result).not.toHaveProperty("content");
    const taskId = taskIdOf(created);
    const get = (): Promise<RawMessage> => post(server, about("tasks/get", taskId));
    expect((await get()).result).toMatchObject({ resultType: "complete", taskId, status: "working" });
    await until(async () => (await get()).result?.["status"] !== "working");
    const { result } = await get();
    expect(result).toMatchObject({ status: "completed", createdAt: created.result?.["createdAt"] });
    // The time of its end plus the 15 minutes for which it is kept.
    expect(Number(result?.["ttlMs"])).toBeGreaterThanOrEqual(900_000);
    expect(JSON.stringify(result).length).toBeLessThan(24_000);
    // An ended task does not change.
    expect((await post(server, about("tasks/cancel", taskId))).result).toMatchObject({ resultType: "complete" });
    expect((await get()).result).toMatchObject({ status: "completed" });
    expect((await post(server, about("tasks/update", taskId))).result).toMatchObject({ resultType: "complete" });
  });

  it(
    "gets no task without declaring the extension, and errors with the extension's codes",
    { timeout: 60_000 },
    async () => {
      const { method, params } = execute("import time; time.sleep(2)");
      const plain = await post(server, { method, params: { ...params, _meta: meta(false) } });
      expect(plain.result).toMatchObject({ resultType: "complete", structuredContent: { status: "running" } });
      const runId = String((plain.result?.["structuredContent"] as { readonly run_id?: string } | undefined)?.run_id);
      const undeclared = await post(server, { method: "tasks/get", params: { taskId: runId, _meta: meta(false) } });
      expect(undeclared.error).toMatchObject({
        code: -32_021,
        data: { requiredCapabilities: { extensions: { [extension]: {} } } },
      });
      const wanted = { notifications: { taskIds: [runId] }, _meta: meta(false) };
      expect((await post(server, { method: "subscriptions/listen", params: wanted })).error).toMatchObject({
        code: -32_021,
        data: { requiredCapabilities: { extensions: { [extension]: {} } } },
      });
      for (const bad of [runId, "run-none", "", 7, null, "x".repeat(300)]) {
        for (const name of ["tasks/get", "tasks/cancel", "tasks/update"]) {
          expect((await post(server, about(name, bad))).error, `${name} ${String(bad).slice(0, 20)}`).toMatchObject({
            code: expect.toBeOneOf([-32_602, -32_020]) as number,
          });
        }
      }
      for (const name of ["tasks/list", "tasks/result"]) {
        expect((await post(server, about(name, runId))).error).toMatchObject({ code: -32_601 });
      }
    },
  );
});

describe("a client of the Tasks extension over stdio", () => {
  useGlovebox("local");
  let mcp: RawMcp;
  beforeAll(() => void (mcp = new RawMcp(["--engine", "local", "--answer-within", "500ms"], sandboxes.environment())));
  afterAll(() => mcp.child.kill("SIGKILL"));
  let id = 0;
  const ask = ({ method, params }: McpRequest): Promise<RawMessage> =>
    mcp.request((id += 1), method, { _meta: meta(), ...params });

  it("gets tasks, and they end with its connection", { timeout: 60_000 }, async () => {
    const discovered = await ask({ method: "server/discover", params: {} });
    expect(discovered.result).toMatchObject({ capabilities: { extensions: { [extension]: {} } } });
    const wanted = { notifications: { taskIds: ["run-none"] }, _meta: meta(false) };
    expect((await ask({ method: "subscriptions/listen", params: wanted })).error).toMatchObject({ code: -32_021 });
    const seconds = uniqueSeconds();
    const created = await ask(execute(sleeping(seconds)));
    expect(created.result).toMatchObject({ resultType: "task" });
    await until(() => sleepersFor(seconds).length > 0);
    expect((await ask(about("tasks/get", taskIdOf(created)))).result).toMatchObject({
      status: "working",
      statusMessage: expect.stringContaining("Running") as string,
    });
    mcp.child.stdin.end();
    expect(await mcp.ended).toBe(0);
    expect(sleepersFor(seconds)).toEqual([]);
  });

  it("is not offered them at 2025-11-25, where the methods are unknown", { timeout: 60_000 }, async () => {
    const older = new RawMcp(["--engine", "local", "--answer-within", "500ms"], sandboxes.environment());
    await older.initialize();
    const { params } = execute("import time; time.sleep(2)");
    const called = await older.request(1, "tools/call", params);
    expect(called.result).toMatchObject({ structuredContent: { status: "running" } });
    expect((await older.request(2, "tasks/get", { taskId: "x" })).error).toMatchObject({ code: -32_601 });
    older.child.stdin.end();
    expect(await older.ended).toBe(0);
  });
});

describe("tasks of two keys on local", () => {
  useGlovebox("local");
  let close = (): Promise<void> => Promise.resolve();
  afterEach(() => close());

  it("do not exist for each other", { timeout: 60_000 }, async () => {
    const server = await startKeyServer();
    close = async () => server[Symbol.asyncDispose]();
    const [ann, bob] = [await server.addKey("ann"), await server.addKey("bob")];
    const as = (key: string) => (request: McpRequest) =>
      post({ url: `${server.url}/mcp`, headers: { authorization: `Bearer ${key}` } }, request);
    const [asAnn, asBob] = [as(ann.text), as(bob.text)];
    const seconds = uniqueSeconds();
    const created = await asAnn(execute(sleeping(seconds)));
    const taskId = taskIdOf(created);
    expect(created.result).toMatchObject({ resultType: "task" });
    const never = (await asBob(about("tasks/get", "run-00000000000000000000"))).error;
    for (const method of ["tasks/get", "tasks/cancel", "tasks/update"]) {
      const { error } = await asBob(about(method, taskId));
      expect(error).toMatchObject({ code: -32_602 });
      expect(JSON.stringify(error).replaceAll(taskId, "ID")).toBe(
        JSON.stringify(never).replaceAll("run-00000000000000000000", "ID"),
      );
    }
    expect(sleepersFor(seconds)).toHaveLength(1);
    expect((await asAnn(about("tasks/get", taskId))).result).toMatchObject({ status: "working" });
    await asAnn(about("tasks/cancel", taskId));
    await until(async () => (await asAnn(about("tasks/get", taskId))).result?.["status"] === "cancelled");
    await until(() => sleepersFor(seconds).length === 0);
  });
});
