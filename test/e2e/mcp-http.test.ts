import { Client, StreamableHTTPClientTransport, type Progress } from "@modelcontextprotocol/client";
import http from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startHttpMcp, type HttpMcp } from "../helpers/http-mcp.ts";
import { revisions, type Revision } from "../helpers/mcp-client.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { useOwnSandboxes } from "../helpers/own-sandboxes.ts";
import { sleepersFor, uniqueSeconds } from "../helpers/processes.ts";
import { runCommand } from "../helpers/run-command.ts";
import { until } from "../helpers/until.ts";

const engine = "docker";
const sandboxes = useOwnSandboxes();
let server: HttpMcp;
beforeAll(async () => (server = await startHttpMcp(["--engine", engine], sandboxes.environment())));
afterAll(() => server[Symbol.asyncDispose]());

async function connect({ mode }: Revision): Promise<{ client: Client; transport: StreamableHTTPClientTransport }> {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  const transport = new StreamableHTTPClientTransport(new URL(server.url));
  await client.connect(transport);
  return { client, transport };
}

const sleeper = (seconds: string): Record<string, unknown> => ({
  language: "python",
  code: `import subprocess; print('up', flush=True); subprocess.run(['sleep', '${seconds}'])`,
  timeout_seconds: 300,
});

describe.each(revisions)("an agent that speaks $revision over HTTP", (revision) => {
  useGlovebox(engine);

  it("runs a program and hears of its progress", async () => {
    const { client } = await connect(revision);
    const heard: Progress[] = [];
    const code = "import time; print('up', flush=True); time.sleep(4); print(6 * 7)";
    const result = await client.callTool(
      { name: "execute_code", arguments: { language: "python", code } },
      { onprogress: (progress) => heard.push(progress) },
    );
    expect(result).toMatchObject({ structuredContent: { outcome: "completed", stdout: "up\n42\n" } });
    expect(heard.length).toBeGreaterThan(0);
    await client.close();
  });

  it("cancels a run, which leaves nothing behind", async () => {
    const { client } = await connect(revision);
    const seconds = uniqueSeconds();
    const giveUp = new AbortController();
    const call = client.callTool({ name: "execute_code", arguments: sleeper(seconds) }, { signal: giveUp.signal });
    await until(() => sleepersFor(seconds).length > 0);
    giveUp.abort();
    await expect(call).rejects.toThrow(/abort/i);
    await until(() => sleepersFor(seconds).length === 0);
    await until(async () => (await sandboxes.on(engine)).length === 0);
    await client.close();
  });

  it("is told what is not served", async () => {
    const { client } = await connect(revision);
    await expect(client.callTool({ name: "up", arguments: {} })).rejects.toMatchObject({
      code: -32602,
      data: { code: "Unimplemented", error_type: "UNIMPLEMENTED" },
    });
    await expect(client.callTool({ name: "execute_code", arguments: { language: "python" } })).rejects.toMatchObject({
      code: -32602,
      data: { error_type: "INVALID_REQUEST", context: { field: "code" } },
    });
    await client.close();
  });
});

describe("a protocol session of 2025-11-25", () => {
  useGlovebox(engine);

  it("ends with DELETE, and its work with it", async () => {
    const { client, transport } = await connect(revisions[0]);
    const seconds = uniqueSeconds();
    const call = client.callTool({ name: "execute_code", arguments: sleeper(seconds) });
    call.catch(() => {
      // Nobody answers it any more.
    });
    await until(() => sleepersFor(seconds).length > 0);
    const { sessionId = "" } = transport;
    await transport.terminateSession();
    await until(() => sleepersFor(seconds).length === 0);
    const { status } = await post(JSON.stringify(ping), { "mcp-session-id": sessionId });
    expect(status).toBe(404);
    await client.close();
  });
});

const ping = { jsonrpc: "2.0", id: 1, method: "ping" };

function post(body: string, headers: http.OutgoingHttpHeaders = {}): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const accept = "application/json, text/event-stream";
    const request = http.request(
      server.url,
      { method: "POST", headers: { "content-type": "application/json", accept, ...headers } },
      (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
        response.on("end", () => resolve({ status: response.statusCode ?? 0, body: text }));
      },
    );
    request.on("error", reject);
    request.end(body);
  });
}

describe("the port", () => {
  it("answers single requests without a session", async () => {
    expect(await post(JSON.stringify(ping))).toMatchObject({
      status: 200,
      body: expect.stringContaining('"result":{}'),
    });
  });

  it.each<http.OutgoingHttpHeaders>([
    { host: "evil.example" },
    { host: "evil.example:8080" },
    { origin: "http://evil.example" },
    { origin: "null" },
    { host: "127.0.0.1.evil.example" },
  ])("refuses what a web page of others sends: %j", async (headers) => {
    expect(await post(JSON.stringify(ping), headers)).toMatchObject({ status: 403 });
  });

  it("answers bad messages with their codes, and lives on", async () => {
    expect(await post("{bad")).toMatchObject({ status: 400, body: expect.stringContaining("-32700") });
    expect(await post("[]")).toMatchObject({ status: 400 });
    expect(await post("{}", { "content-type": "text/plain" })).toMatchObject({ status: 415 });
    expect(await post('{"jsonrpc":"2.0","id":1,"method":"up"}')).toMatchObject({
      body: expect.stringMatching(/-32601.*UNIMPLEMENTED/),
    });
    expect(await post("x".repeat(70_000_000)).catch(() => ({ status: 413 }))).toMatchObject({ status: 413 });
    expect(await post(JSON.stringify(ping))).toMatchObject({ status: 200 });
  });

  it("is one of loopback only", async () => {
    for (const address of ["0.0.0.0:0", "192.0.2.1:0", "[::]:0"]) {
      const result = await runCommand(["mcp", "--http", address]);
      expect(result).toMatchObject({ exitCode: 125, stdout: "", stderr: expect.stringContaining("POLICY_DENIED") });
    }
    expect(await runCommand(["mcp", "--http", "99999"])).toMatchObject({ exitCode: 2 });
  });

  it("ends at SIGTERM with 0, and its work with it", async () => {
    const other = await startHttpMcp(["--engine", "local"], sandboxes.environment());
    const seconds = uniqueSeconds();
    const body = { ...ping, method: "tools/call", params: { name: "execute_code", arguments: sleeper(seconds) } };
    const answer = fetch(other.url, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
      body: JSON.stringify(body),
    }).then((response) => response.text());
    await until(() => sleepersFor(seconds).length > 0);
    other.child.kill("SIGTERM");
    expect(await answer).toContain("cancelled");
    expect(await other.ended).toBe(0);
    expect(sleepersFor(seconds)).toEqual([]);
  });
});
