import { Sandbox } from "e2b";
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openE2bScene, type E2bScene } from "../helpers/e2b-scene.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
}

/** Answers with what it was sent, and agrees to every WebSocket, whose bytes it sends back. */
const echoServer = String.raw`
import hashlib, base64, json, socketserver
class Handler(socketserver.StreamRequestHandler):
  def handle(self):
    line = self.rfile.readline().decode()
    if not line: return
    headers = {}
    while (header := self.rfile.readline().decode().strip()): headers[header.split(":")[0].lower()] = header.split(":", 1)[1].strip()
    if "upgrade" in headers:
      accept = base64.b64encode(hashlib.sha1((headers["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()).decode()
      self.wfile.write(("HTTP/1.1 101 x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: " + accept + "\r\n\r\n").encode())
      while (data := self.request.recv(65536)): self.wfile.write(data)
      return
    body = self.rfile.read(int(headers.get("content-length", 0)))
    text = json.dumps({"line": line.strip(), "headers": headers, "bytes": len(body), "sum": hashlib.sha256(body).hexdigest()}).encode()
    self.wfile.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(text) + text)
class Server(socketserver.ThreadingTCPServer): allow_reuse_address = True; daemon_threads = True
Server(("0.0.0.0", 8000), Handler).serve_forever()
`;

async function withEcho(options: object = {}): Promise<Sandbox> {
  const sandbox = await Sandbox.create({ timeoutMs: 120_000, ...options });
  await sandbox.files.write("echo.py", echoServer);
  await sandbox.commands.run("python3 echo.py", { background: true });
  await sandbox.commands.run(
    "for i in $(seq 100); do python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", 8000))' 2>/dev/null && break; sleep 0.1; done",
  );
  return sandbox;
}

/** The end of a forged Host decides nothing: the connection always goes to the server. */
async function ask(
  url: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body?: Buffer,
): Promise<Answer> {
  const { hostname, port } = new URL(url);
  const method = body === undefined ? "GET" : "POST";
  const sent = httpRequest({ hostname, port, path, method, headers, setHost: false });
  sent.end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  let text = "";
  for await (const chunk of response) text += String(chunk);
  return { status: response.statusCode ?? 0, headers: response.headers, text };
}

const json = ({ text }: Answer): Record<string, unknown> => JSON.parse(text) as Record<string, unknown>;

async function openWebSocket(url: string, headers: readonly string[]): Promise<{ socket: Socket; head: string }> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  const lines = ["GET /live HTTP/1.1", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"];
  socket.write([...lines, "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", ...headers, "", ""].join("\r\n"));
  const [head] = (await once(socket, "data")) as [Buffer];
  return { socket, head: head.toString() };
}

describe("ports of E2B's sandboxes on local", () => {
  useGlovebox("local");
  let scene: E2bScene;
  let sandbox: Sandbox;
  let closed: Sandbox;
  beforeAll(async () => {
    scene = await openE2bScene();
    sandbox = await withEcho();
    closed = await withEcho({ network: { allowPublicTraffic: false } });
  });
  afterAll(() => scene[Symbol.asyncDispose]());
  const url = (): string => scene.server.e2bUrl;
  const hostOf = ({ sandboxId }: Sandbox, port = 8000): string =>
    `${port}-${sandboxId}.localhost:${new URL(url()).port}`;
  const named = ({ sandboxId: id }: Sandbox, port = "8000"): Record<string, string> => ({
    ...{ host: new URL(url()).host, "e2b-sandbox-id": id, "e2b-sandbox-port": port },
  });

  it("are reached by the host that getHost names, and by E2B's headers", async () => {
    expect(sandbox.getHost(8000)).toBe(hostOf(sandbox));
    for (const headers of [{ host: hostOf(sandbox) }, named(sandbox)]) {
      const answer = await ask(url(), "/api/items?x=1", headers);
      expect(answer.status).toBe(200);
      expect(json(answer)).toMatchObject({ line: "GET /api/items?x=1 HTTP/1.1", headers: { host: "localhost:8000" } });
    }
  });

  it("take large bodies whole", async () => {
    const body = Buffer.alloc(24 * 1024 * 1024, "0123456789abcdef");
    const answer = await ask(url(), "/", { host: hostOf(sandbox), "content-length": String(body.length) }, body);
    expect(json(answer)).toMatchObject({ bytes: body.length });
  });

  it("say in E2B's words that a port is closed, or a sandbox has ended", async () => {
    const shut = await ask(url(), "/", { host: hostOf(sandbox, 3000) });
    expect(shut.status).toBe(502);
    expect(json(shut)).toEqual({
      ...{
        sandboxId: sandbox.sandboxId,
        message: "The sandbox is running but port is not open",
        port: 3000,
        code: 502,
      },
    });
    const page = await ask(url(), "/", { host: hostOf(sandbox, 3000), accept: "text/html" });
    expect(page).toMatchObject({ status: 502, text: expect.stringContaining("<!doctype html>") });
    const ended = await Sandbox.create();
    await ended.kill();
    const gone = await ask(url(), "/", { host: hostOf(ended, 3000) });
    expect(gone.status).toBe(502);
    expect(json(gone)).toEqual({ sandboxId: ended.sandboxId, message: "The sandbox was not found", code: 502 });
  });

  it("tell the program nothing of ours", async () => {
    const headers = {
      host: hostOf(closed),
      "e2b-traffic-access-token": closed.trafficAccessToken ?? "",
      "x-api-key": scene.mine.text,
      "x-copy": closed.trafficAccessToken ?? "",
      referer: `http://${hostOf(sandbox)}/page`,
      origin: `http://${hostOf(sandbox)}`,
      "x-own": "kept",
    };
    const { text } = await ask(url(), "/", headers);
    expect(text).toContain("kept");
    for (const secret of [closed.trafficAccessToken ?? "none", scene.mine.text, sandbox.sandboxId]) {
      expect(text).not.toContain(secret);
    }
  });

  it("ask for the token of traffic where they are not public", async () => {
    const host = hostOf(closed);
    const other = await Sandbox.create({ network: { allowPublicTraffic: false } });
    const wrong = [
      {},
      { "e2b-traffic-access-token": "x" },
      { "e2b-traffic-access-token": other.trafficAccessToken ?? "" },
    ];
    for (const headers of [...wrong, { "x-api-key": scene.mine.text }]) {
      const refused = await ask(url(), "/", { host, ...headers });
      expect(refused.status).toBe(403);
      expect(json(refused)).toMatchObject({ sandboxId: closed.sandboxId, code: 403 });
    }
    const token = { "e2b-traffic-access-token": closed.trafficAccessToken ?? "" };
    expect((await ask(url(), "/", { host, ...token })).status).toBe(200);
    expect((await ask(url(), "/", { ...named(closed), ...token })).status).toBe(200);
    const { head, socket } = await openWebSocket(url(), [`Host: ${host}`]);
    expect(head).toMatch(/^HTTP\/1\.1 403 /);
    socket.destroy();
    expect(sandbox.trafficAccessToken ?? null).toBeNull();
  });

  it("open by no forged host, and by none of another origin's page", async () => {
    const { port } = new URL(url());
    const forged = [
      `8000-${sandbox.sandboxId}.evil.example`,
      `8000-${sandbox.sandboxId}.localhost.evil.example:${port}`,
      `evil.example:${port}`,
      `8000-${sandbox.sandboxId}.x.localhost:${port}`,
    ];
    for (const host of forged) {
      expect((await ask(url(), "/", { host })).status, host).toBe(403);
      expect((await ask(url(), "/", { ...named(sandbox), host })).status, host).toBe(403);
      const { head, socket } = await openWebSocket(url(), [`Host: ${host}`]);
      expect(head, host).toMatch(/^HTTP\/1\.1 403 /);
      socket.destroy();
    }
    expect((await ask(url(), "/", { ...named(sandbox), origin: "https://evil.example" })).status).toBe(403);
    const twice = await openWebSocket(url(), [`Host: ${hostOf(sandbox)}`, "Host: x"]);
    expect(twice.head).toMatch(/^HTTP\/1\.1 400 /);
    twice.socket.destroy();
    // The host decides, whatever headers say.
    const both = await ask(url(), "/", { ...named(sandbox), host: hostOf(closed) });
    expect(both.status).toBe(403);
    for (const bad of ["0", "65536", "8000x", "-1"]) {
      expect((await ask(url(), "/", named(sandbox, bad))).status, bad).toBe(400);
    }
    expect((await ask(url(), "/envs", { host: hostOf(sandbox, 49_983) })).status).toBe(401);
  });

  it("carry WebSockets, which end with the sandbox", async () => {
    const short = await withEcho();
    const { head, socket } = await openWebSocket(url(), [`Host: ${hostOf(short)}`]);
    expect(head).toMatch(/^HTTP\/1\.1 101 /);
    socket.write("ping");
    const [echoed] = (await once(socket, "data")) as [Buffer];
    expect(echoed.toString()).toBe("ping");
    const ended = once(socket, "close");
    socket.on("error", () => undefined);
    await short.kill();
    await ended;
    for (const headers of [[`Host: ${new URL(url()).host}`], [`Host: ${hostOf(sandbox, 49_983)}`]]) {
      const refused = await openWebSocket(url(), headers);
      expect(refused.head).toMatch(/^HTTP\/1\.1 404 /);
      refused.socket.destroy();
    }
  });

  it("get the host that maskRequestHost names", async () => {
    const masked = await withEcho({ network: { maskRequestHost: "app.example:${PORT}" } });
    expect(json(await ask(url(), "/", { host: hostOf(masked) }))).toMatchObject({
      headers: { host: "app.example:8000" },
    });
    for (const network of [{}, { allowPublicTraffic: true }, { allowPublicTraffic: true, denyOut: ["0.0.0.0/0"] }]) {
      expect((await Sandbox.create({ network })).trafficAccessToken ?? null).toBeNull();
    }
    for (const host of ["a b", "x\r\ny: z", "", "a".repeat(300)]) {
      await expect(Sandbox.create({ network: { maskRequestHost: host } }), host).rejects.toThrow("maskRequestHost");
    }
  });
});

describe("ports of E2B's sandboxes below a domain", () => {
  useGlovebox("local");

  it("have names there, as the API has", async () => {
    await using scene = await openE2bScene({}, "local", ["--e2b-domain", "https://e2b.example"]);
    const url = scene.server.e2bUrl;
    const sandbox = await withEcho();
    const host = sandbox.getHost(8000);
    expect(host).toBe(`8000-${sandbox.sandboxId}.e2b.example`);
    // Others than this machine's users come in by that name, so that only the client can make it public.
    expect((await ask(url, "/", { host })).status).toBe(403);
    const token = sandbox.trafficAccessToken ?? "none";
    expect((await ask(url, "/", { host, "e2b-traffic-access-token": token })).status).toBe(200);
    const open = await withEcho({ network: { allowPublicTraffic: true } });
    expect((await ask(url, "/", { host: open.getHost(8000) })).status).toBe(200);
    const key = { "x-api-key": scene.mine.text };
    expect((await ask(url, "/v2/sandboxes", { host: "api.e2b.example", ...key })).status).toBe(200);
    expect((await ask(url, "/health", { host: `49983-${sandbox.sandboxId}.e2b.example` })).status).toBe(204);
    expect((await ask(url, "/v2/sandboxes", { host: "api.other.example", ...key })).status).toBe(403);
  });
});
