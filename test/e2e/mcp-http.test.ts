import { Client, StreamableHTTPClientTransport, type Progress } from "@modelcontextprotocol/client";
import { spawnSync, type SpawnSyncReturns } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import http from "node:http";
import net from "node:net";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startHttpMcp, type HttpMcp } from "../helpers/http-mcp.ts";
import { revisions, type Revision } from "../helpers/mcp-client.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { useOwnSandboxes } from "../helpers/own-sandboxes.ts";
import { sleepersFor, uniqueSeconds } from "../helpers/processes.ts";
import { isRequired } from "../helpers/require.ts";
import { runCommand } from "../helpers/run-command.ts";
import { until } from "../helpers/until.ts";

/** If the tests have no Docker, the embedded engine is just as good for testing a transport. */
const engine = isRequired("docker") ? "docker" : "local";
const sandboxes = useOwnSandboxes();
let server: HttpMcp;
/** The origin of a web page that the deployment allows. */
const ownPage = "http://localhost:5173";
beforeAll(
  async () =>
    (server = await startHttpMcp(["--engine", engine], {
      ...sandboxes.environment(),
      GLOVEBOX_ALLOWED_ORIGINS: ownPage,
    })),
);
afterAll(() => server[Symbol.asyncDispose]());

async function connect({ mode }: Revision): Promise<{ client: Client; transport: StreamableHTTPClientTransport }> {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  const transport = new StreamableHTTPClientTransport(new URL(server.url), {
    requestInit: { headers: server.headers },
  });
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

  it("runs a program and receives its progress", async () => {
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
    await client.close();
  });

  it("is told as a tool's error which arguments do not fit", async () => {
    const { client } = await connect(revision);
    expect(await client.callTool({ name: "execute_code", arguments: { language: "python" } })).toMatchObject({
      isError: true,
      content: [{ type: "text", text: expect.stringMatching(/^INVALID_REQUEST: .*code: expected a string/) }],
      structuredContent: { error: { error_type: "INVALID_REQUEST", context: { field: "code" } } },
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
      // It gets no answer any more.
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

const sum = { language: "python", code: "print(3 * 12345678)" };
const otherUser = "glovebox-testbed";

function hasUser(name: string): boolean {
  return spawnSync("id", ["-u", name]).status === 0;
}

const ping = { jsonrpc: "2.0", id: 1, method: "ping" };

function post(body: string, headers: http.OutgoingHttpHeaders = {}): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const accept = "application/json, text/event-stream";
    const sent = Object.entries({ ...server.headers, ...headers }).filter(([, value]) => value !== undefined);
    const request = http.request(
      server.url,
      { method: "POST", headers: { "content-type": "application/json", accept, ...Object.fromEntries(sent) } },
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
    { origin: "http://localhost:3000" },
    { origin: "http://127.0.0.1" },
    { origin: "http://localhost:5173.evil.example" },
    { origin: "HTTP://LOCALHOST:5173" },
    { origin: "null" },
    { host: "127.0.0.1.evil.example" },
  ])("refuses what a web page of others sends: %j", async (headers) => {
    expect(await post(JSON.stringify(ping), headers)).toMatchObject({ status: 403 });
  });

  it.each<[string, http.OutgoingHttpHeaders]>([
    ["no token", { authorization: undefined }],
    ["another token", { authorization: `Bearer ${"a".repeat(43)}` }],
    ["an empty token", { authorization: "Bearer " }],
    ["the token in another scheme", { authorization: "Basic" }],
  ])("gives %s nothing but how to do better", async (_, headers) => {
    const sent =
      headers["authorization"] === "Basic"
        ? server.headers["authorization"]?.replace("Bearer", "Basic")
        : headers["authorization"];
    const { status, body } = await post(JSON.stringify(ping), { authorization: sent });
    expect(status).toBe(401);
    expect(JSON.parse(body)).toMatchObject({
      jsonrpc: "2.0",
      id: null,
      error: {
        data: { error_type: "PERMISSION_DENIED", suggestion: expect.stringContaining("Authorization: Bearer") },
      },
    });
  });

  it("shows itself to the pages that are let in, which need the token too", async () => {
    const asked = { origin: ownPage, "access-control-request-method": "POST" };
    const preflight = await fetch(server.url, { method: "OPTIONS", headers: asked });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-origin")).toBe(ownPage);
    expect(preflight.headers.get("access-control-allow-headers")).toContain("authorization");
    expect(await post(JSON.stringify(ping), { origin: ownPage })).toMatchObject({ status: 200 });
    expect(await post(JSON.stringify(ping), { origin: ownPage, authorization: undefined })).toMatchObject({
      status: 401,
    });
    const foreign = await fetch(server.url, { method: "OPTIONS", headers: { ...asked, origin: "http://localhost:1" } });
    expect(foreign.status).toBe(403);
    expect(foreign.headers.get("access-control-allow-origin")).toBeNull();
  });

  it("gives another user of this machine nothing", (context) => {
    if (process.getuid?.() !== 0 || !hasUser(otherUser)) context.skip(`needs root and the user ${otherUser}`);
    const asOther = (program: string, ...values: readonly string[]): SpawnSyncReturns<string> =>
      spawnSync("/usr/bin/setpriv", ["--reuid", otherUser, "--clear-groups", "--", program, ...values], {
        encoding: "utf8",
        cwd: "/",
      });
    const tokenFile = path.join(server.configFolder, "token");
    expect(asOther("cat", tokenFile)).toMatchObject({
      stdout: "",
      stderr: expect.stringContaining("Permission denied"),
    });
    const call = { ...ping, method: "tools/call", params: { name: "execute_code", arguments: sum } };
    const raw = [
      "import socket, sys",
      "lines = ['POST /mcp HTTP/1.1', 'Host: 127.0.0.1', 'Content-Type: application/json', 'Connection: close',",
      "  'Accept: application/json, text/event-stream', 'Content-Length: %d' % len(sys.argv[2]), *sys.argv[3:]]",
      "port = socket.create_connection(('127.0.0.1', int(sys.argv[1])), 10)",
      "port.sendall(('\\r\\n'.join(lines) + '\\r\\n\\r\\n' + sys.argv[2]).encode())",
      "while piece := port.recv(65536): sys.stdout.buffer.write(piece)",
    ].join("\n");
    const { port } = new URL(server.url);
    for (const shown of [[], [`Authorization: Bearer ${"a".repeat(43)}`]]) {
      const { stdout, stderr } = asOther("/usr/bin/python3", "-c", raw, port, JSON.stringify(call), ...shown);
      expect(stdout, stderr).toMatch(/^HTTP\/1\.1 401 /);
      expect(stdout).not.toContain("37037034");
    }
  });

  it("keeps its descriptors for sandboxes, however many connect and say nothing", async () => {
    const target = new URL(server.url);
    const idle = Array.from({ length: 700 }, () => net.connect(Number(target.port), target.hostname));
    try {
      for (const socket of idle) socket.on("error", () => undefined).resume();
      await Promise.all(idle.map((socket) => once(socket, "connect")));
      const descriptors = (): number => readdirSync(`/proc/${server.child.pid}/fd`).length;
      await until(() => descriptors() > 400 || idle.filter(({ closed }) => closed).length >= 700 - 128);
      expect(descriptors()).toBeLessThan(400);
    } finally {
      for (const socket of idle) socket.destroy();
    }
    await until(async () => (await post(JSON.stringify(ping)).catch(() => null))?.status === 200);
  });

  it("asks for none with --no-token, and warns of that", async () => {
    await using open = await startHttpMcp(["--engine", "local", "--no-token"], sandboxes.environment());
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
    const answer = await fetch(open.url, { method: "POST", headers, body: JSON.stringify(ping) });
    expect(answer.status).toBe(200);
    expect(open.notice()).toMatch(/--no-token: every user and program on this machine can run code/);
    expect(existsSync(path.join(open.configFolder, "token"))).toBe(false);
  });

  it("answers bad messages with their codes, and lives on", async () => {
    expect(await post("{bad")).toMatchObject({ status: 400, body: expect.stringContaining("-32700") });
    const many = `{"jsonrpc":"2.0","id":1,"method":"up","params":{"a":[${"{},".repeat(5_000_000)}{}]}}`;
    for (const refused of ["[]", `[${JSON.stringify(ping)}]`, `[${"{},".repeat(300_000)}{}]`, many]) {
      expect(await post(refused)).toMatchObject({ status: 400, body: expect.stringContaining("-32600") });
    }
    expect(await post("{}", { "content-type": "text/plain" })).toMatchObject({ status: 415 });
    expect(await post('{"jsonrpc":"2.0","id":1,"method":"up"}')).toMatchObject({
      body: expect.stringMatching(/-32601.*UNIMPLEMENTED/),
    });
    expect(await post("x".repeat(17_000_000)).catch(() => ({ status: 413 }))).toMatchObject({ status: 413 });
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
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...other.headers,
      },
      body: JSON.stringify(body),
    }).then((response) => response.text());
    await until(() => sleepersFor(seconds).length > 0);
    other.child.kill("SIGTERM");
    expect(await answer).toContain("cancelled");
    expect(await other.ended).toBe(0);
    expect(sleepersFor(seconds)).toEqual([]);
  });
});
