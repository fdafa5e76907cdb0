import { once } from "node:events";
import net from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { startKeyServer, type KeyServer, type TestKey } from "../helpers/key-server.ts";
import { until } from "../helpers/until.ts";

const share = 256;
const unknown = 128;

let server: KeyServer;
let greedy: TestKey;
let other: TestKey;
const sockets: net.Socket[] = [];
beforeAll(async () => {
  server = await startKeyServer();
  greedy = await server.addKey("greedy");
  other = await server.addKey("other");
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await until(async () => (await greedy.ask("GET /api/sessions")).status === 200);
});
afterAll(() => server[Symbol.asyncDispose]());

async function open(): Promise<net.Socket> {
  const socket = net.connect(Number(new URL(server.url).port), "127.0.0.1");
  sockets.push(socket);
  socket.on("error", () => {
    // The server may end it.
  });
  await once(socket, "connect");
  return socket;
}

/** The beginning of the answer to one request on a connection of its own, which stays open. */
async function ask(target: string, headers: readonly string[]): Promise<string> {
  const socket = await open();
  socket.write(`GET ${target} HTTP/1.1\r\nHost: localhost\r\n${headers.join("\r\n")}\r\n\r\n`);
  const [answer] = (await once(socket, "data")) as [Buffer];
  return answer.toString();
}

const upgrade = [
  "Connection: Upgrade",
  "Upgrade: websocket",
  "Sec-WebSocket-Version: 13",
  "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
];
const openWebSocket = (key: string): Promise<string> =>
  ask("/api/sandbox/none/exec", [...upgrade, `Authorization: Bearer ${key}`]);

describe("connections", () => {
  it("of one key beyond its share are refused with CAPACITY, WebSockets too, and end; another key's work", async () => {
    for (let count = 0; count < share; count += 1) expect(await openWebSocket(greedy.text)).toMatch(/^HTTP\/1\.1 101 /);
    for (const target of ["/api/sessions", "/mcp"]) {
      const refused = await ask(target, [`Authorization: Bearer ${greedy.text}`]);
      expect(refused).toMatch(/^HTTP\/1\.1 429 /);
      expect(refused).toMatch(/\r\nretry-after: 5\r\n/i);
      expect(refused).toMatch(/"error_type":"CAPACITY","message":"256 of your connections /);
    }
    expect(await openWebSocket(greedy.text)).toMatch(/^HTTP\/1\.1 429 [^]*"error_type":"CAPACITY"/);
    await until(() => sockets.slice(share).every((socket) => socket.resume().closed));
    expect(await openWebSocket(other.text)).toMatch(/^HTTP\/1\.1 101 /);
    expect((await other.ask("GET /api/sessions")).status).toBe(200);
    // One that closes makes room.
    sockets[0]?.destroy();
    await until(async () => (await greedy.ask("GET /api/sessions")).status === 200);
  });

  it("without a key give way to each other: silent and refused ones keep nobody out", async () => {
    const silent = await open();
    const heard = text(silent);
    for (let count = 0; count < 2 * unknown; count += 1) {
      expect(await ask("/api/sandbox/none/exec", upgrade)).toMatch(/^HTTP\/1\.1 401 /);
    }
    await until(() => sockets.slice(1).every((socket) => socket.resume().closed));
    for (let count = 0; count < 1_500; count += 1) (await open()).resume();
    expect(await heard).toMatch(/^HTTP\/1\.1 429 [^]*"error_type":"CAPACITY"/);
    expect((await other.ask("GET /api/sessions")).status).toBe(200);
    await until(() => sockets.filter(({ closed }) => !closed).length <= unknown);
  });
});

it("`--host localhost` is 127.0.0.1, and nothing else", async () => {
  await using named = await startKeyServer(["--host", "localhost"]);
  const { hostname, port } = new URL(named.url);
  expect(hostname).toBe("127.0.0.1");
  expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200);
  const other = net.connect(Number(port), "::1");
  const [error] = (await once(other, "error")) as [NodeJS.ErrnoException];
  expect(["ECONNREFUSED", "EADDRNOTAVAIL"]).toContain(error.code);
});
