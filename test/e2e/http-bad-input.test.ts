import { once } from "node:events";
import net from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startHttpServer, type HttpServerProcess } from "../helpers/http-server.ts";
import { useOwnSandboxes } from "../helpers/own-sandboxes.ts";
import { runCommand } from "../helpers/run-command.ts";

const sandboxes = useOwnSandboxes();
/** The origin of a web page that the deployment allows. */
const ownPage = "http://localhost:5173";
let server: HttpServerProcess;
beforeAll(async () => {
  const environment = { ...sandboxes.environment(), GLOVEBOX_ALLOWED_ORIGINS: ownPage };
  server = await startHttpServer(["--engine", "local"], environment);
});
afterAll(() => server[Symbol.asyncDispose]());

const execute = "POST /api/sandbox/execute";

async function refusal(answer: Promise<Response>): Promise<Record<string, unknown>> {
  const response = await answer;
  const body = (await response.json()) as Record<string, unknown>;
  expect(Object.keys(body)).toEqual(["error_type", "message", "suggestion", "context"]);
  expect(JSON.stringify(body)).not.toMatch(/node_modules|\.ts:\d|\bat \w+ \(|\/root\/|\/home\//);
  return { status: response.status, ...body };
}

/** The answer to bytes that our clients would never send. */
async function sendRaw(text: string, more?: Buffer): Promise<string> {
  const socket = net.connect(Number(new URL(server.url).port), "127.0.0.1");
  let answer = "";
  socket.setEncoding("utf8").on("data", (piece) => (answer += piece));
  socket.on("error", () => {
    // The server may close before it has read everything.
  });
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.write(text);
  if (more !== undefined) socket.write(more);
  await closed;
  return answer;
}

const head = (rest: string): string => {
  const token = server.headers["authorization"] ?? "";
  return `POST /api/sandbox/execute HTTP/1.1\r\nHost: localhost\r\nAuthorization: ${token}\r\nConnection: close\r\n${rest}`;
};

describe("a body", () => {
  it.each([
    ["no JSON", "{", 400],
    ["a list", "[]", 400],
    ["null", "null", 400],
    ["a text", '"x"', 400],
    ["a prototype", '{"__proto__":{"a":1}}', 400],
  ])("that is %s is refused by its name", async (_, body, status) => {
    const answer = await refusal(server.ask(execute, body));
    expect(answer).toMatchObject({ status, error_type: "INVALID_REQUEST", context: { field: "body" } });
  });

  it("that has wrong fields is refused with every one of them", async () => {
    const body = { language: "cobol", args: [1, null], timeout_seconds: null, limits: { cpu: 1 }, nonsense: true };
    const { message, context } = await refusal(server.ask(execute, body));
    const fields = (context as { problems: { field: string }[] }).problems.map(({ field }) => field);
    expect(fields.toSorted()).toEqual(
      ["args[0]", "args[1]", "code", "language", "limits.cpu", "nonsense", "timeout_seconds"].toSorted(),
    );
    for (const field of fields) expect(message).toContain(field);
  });

  it("of another type, coding or size is refused", async () => {
    const type = { "content-type": "text/plain" };
    expect(await refusal(server.ask(execute, "{}", type))).toMatchObject({
      status: 415,
      error_type: "INVALID_REQUEST",
    });
    for (const coding of ["gzip", "br", "gzip, identity"]) {
      const packed = { "content-encoding": coding };
      for (const route of [execute, "POST /mcp", "PUT /api/sessions/ses-1/files/x"]) {
        expect(await refusal(server.ask(route, "{}", packed))).toMatchObject({
          status: 415,
          message: expect.stringContaining("Content-Encoding"),
        });
      }
    }
    const plain = { "content-encoding": "identity" };
    expect((await server.ask(execute, "[]", plain)).status).toBe(400);
    const length = "Content-Type: application/json\r\nContent-Length";
    expect(await sendRaw(head(`${length}: 3\r\n\r\n`), Buffer.from([0x22, 0xff, 0x22]))).toMatch(
      /^HTTP\/1.1 400[^]*body/,
    );
    expect(await sendRaw(head(`${length}: 104857600\r\n\r\n{`))).toMatch(/^HTTP\/1.1 413[^]*"INVALID_REQUEST"/);
    expect(await sendRaw(head(`${length}: x\r\n\r\n`))).toMatch(/^HTTP\/1.1 400[^]*"INVALID_REQUEST"/);
    expect(await sendRaw("NONSENSE\r\n\r\n")).toMatch(/^HTTP\/1.1 400[^]*"INVALID_REQUEST"/);
    for (const bytes of [16_500, 40_000, 300_000]) {
      const answer = await sendRaw(head(`X-Long: ${"x".repeat(bytes)}\r\n\r\n`));
      expect(answer).toMatch(/^HTTP\/1.1 431[^]*"INVALID_REQUEST"[^]*16 KiB/);
    }
    expect(await sendRaw(head("Host: localhost\r\n\r\n"))).toMatch(/^HTTP\/1.1 400[^]*more than one Host/);
  });

  it.each([
    ["empty objects", `[${"{},".repeat(349_000)}{}]`, "100000 values"],
    ["empty objects in a field", `{"context_files":[${"{},".repeat(5_000_000)}{}]}`, "100000 values"],
    ["deep lists", `{"args":${"[".repeat(1_000_000)}`, "64 deep"],
    ["keys", `{"environment":{${Array.from({ length: 60_000 }, (_, at) => `"k${at}":""`).join(",")}}}`, "1000 names"],
    ["unknown fields", `{${Array.from({ length: 1_001 }, (_, at) => `"k${at}":1`).join(",")}}`, "1000 names"],
  ])("of very many or very deep values is refused without building them: %s", async (_, body, words) => {
    const answer = await refusal(server.ask(execute, body));
    expect(answer).toMatchObject({ status: 400, message: expect.stringContaining(words), context: { field: "body" } });
  });

  it.each([
    ["context_files", "256 items", Array.from({ length: 49_000 }, () => ({}))],
    ["args", "65000 items", Array.from({ length: 99_000 }, () => 1)],
    ["environment", "256 entries", Object.fromEntries(Array.from({ length: 999 }, (_, at) => [`k${at}`, 1]))],
  ])("with too many %s is refused by their number", async (field, words, value) => {
    const answer = await refusal(server.ask(execute, { language: "python", code: "1", [field]: value }));
    expect(answer).toMatchObject({ status: 400, context: { field, problems: [{ field }] } });
    expect(answer["message"]).toContain(words);
    expect(JSON.stringify(answer).length).toBeLessThan(1000);
  });

  it("has as much as its route needs, and no more", async () => {
    const sized = (mebibytes: number) => JSON.stringify({ language: "x", code: "x".repeat(mebibytes * 1_048_576) });
    for (const [route, mebibytes, status] of [
      [execute, 15, 400],
      [execute, 17, 413],
      ["POST /api/sessions", 2, 413],
      ["POST /api/environments", 2, 413],
      ["PUT /api/sessions/ses-1/files", 17, 413],
    ] as const) {
      // A client that still sends may find the connection closed.
      const answer = await server.ask(route, sized(mebibytes)).catch(() => ({ status: 413 }));
      expect([route, answer.status]).toEqual([route, status]);
    }
  });

  it("that stops half way does no harm", async () => {
    const socket = net.connect(Number(new URL(server.url).port), "127.0.0.1");
    socket.write(head('Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"language"'));
    await once(socket, "connect");
    socket.destroy();
    expect((await server.ask("GET /healthz")).status).toBe(200);
  });
});

describe("a path", () => {
  it.each([
    ["GET /nothing", 404, "NOT_FOUND"],
    ["PATCH /api/sandbox", 405, "INVALID_REQUEST"],
    ["GET /api/sandbox/execute/more", 404, "NOT_FOUND"],
    ["GET /api/sandbox/sbx-unknown", 404, "NOT_FOUND"],
    ["DELETE /api/sandbox/run-unknown", 404, "NOT_FOUND"],
    ["GET /api/sessions/ses-unknown", 404, "NOT_FOUND"],
    ["GET /api/sessions/%ZZ", 400, "INVALID_REQUEST"],
    [`GET /api/sessions/${"x".repeat(13_000)}`, 400, "INVALID_REQUEST"],
    ["GET /api/sandbox?label=x", 400, "INVALID_REQUEST"],
    ["GET /api/sandbox?nonsense=1", 400, "INVALID_REQUEST"],
    ["GET /api/environments?label=a=1&other=2", 400, "INVALID_REQUEST"],
    ["GET /api/sessions/ses-1/files/x?offset=-1", 400, "INVALID_REQUEST"],
    ["GET /api/sessions/ses-1/files/x?offset=1e3", 400, "INVALID_REQUEST"],
    ["POST /api/sessions/ses-1/runs?code=1", 400, "INVALID_REQUEST"],
  ])("such as %s is answered with %i %s", async (route, status, type) => {
    expect(await refusal(server.ask(route))).toMatchObject({ status, error_type: type });
  });

  it("that has other methods says which", async () => {
    const response = await server.ask("PUT /api/sessions/ses-1/runs", {});
    expect([response.status, response.headers.get("allow")]).toEqual([405, "POST"]);
  });
});

describe("a stranger", () => {
  it.each([
    ["host", "evil.example"],
    ["origin", "http://evil.example"],
    ["origin", "null"],
  ])("whose request has the %s %s is refused, with the token and on every path", async (name, value) => {
    for (const path of ["/healthz", "/api/sandbox", "/mcp", "/nothing"]) {
      const token = `Authorization: ${server.headers["authorization"]}`;
      const host = name === "host" ? "" : "Host: localhost\r\n";
      const answer = await sendRaw(
        `GET ${path} HTTP/1.1\r\n${host}${name}: ${value}\r\n${token}\r\nConnection: close\r\n\r\n`,
      );
      expect(answer).toMatch(/^HTTP\/1.1 403[^]*"PERMISSION_DENIED"/);
    }
  });

  it.each(["", "Bearer", "Bearer x", "Basic x"])("a client with %j learns nothing else", async (authorization) => {
    for (const path of ["/api/sandbox", "/mcp", "/nothing"]) {
      const response = await fetch(`${server.url}${path}`, { headers: { authorization } });
      expect(response.status).toBe(401);
      expect(await response.text()).not.toContain("/nothing");
    }
  });

  it("may ask whether the server lives and is ready, and what it offers", async () => {
    const paths = ["/healthz", "/readyz", "/openapi.json", "/docs"];
    expect(await Promise.all(paths.map(async (path) => (await fetch(server.url + path)).status))).toEqual([
      ...[200, 200, 200, 200],
    ]);
  });

  it("is let in as a page of an allowed origin, with the token", async () => {
    const asked = await fetch(`${server.url}/api/sandbox`, {
      method: "OPTIONS",
      headers: { origin: ownPage, "access-control-request-method": "POST" },
    });
    expect([asked.status, asked.headers.get("access-control-allow-origin")]).toEqual([204, ownPage]);
    expect((await server.ask("GET /api/sandbox", undefined, { origin: ownPage })).status).toBe(200);
  });
});

it.each([
  [["--host", "0.0.0.0"], /API keys/],
  [["--port", "70000"], /--port/],
  [["--port", "x"], /--port/],
  [["--drain-timeout", "soon"], /drain_timeout/],
  [["--engine", "nonsense"], /nonsense/],
])("serve %j is refused at its start", async (argv, words) => {
  const { exitCode, stderr } = await runCommand(["serve", ...argv]);
  expect(exitCode).toBeGreaterThan(0);
  expect(stderr).toMatch(words);
});
