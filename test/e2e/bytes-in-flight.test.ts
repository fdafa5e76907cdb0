import { once } from "node:events";
import net from "node:net";
import { setTimeout } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { startKeyServer, type KeyServer, type TestKey } from "../helpers/key-server.ts";
import { until } from "../helpers/until.ts";

const mebibyte = 1_048_576;
const execute = "POST /api/sandbox/execute";
/** A program whose answer is so large that three of them fit a key's share, and no fourth. */
const floods = `import sys\nfor stream in (sys.stdout, sys.stderr): stream.write("0123456789" * 900_000)`;
const program = (code: string) => ({ language: "python", code });

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
  // What the connections held is given back.
  await until(async () => (await greedy.ask(execute, program("print(1)"))).status === 200);
});
afterAll(() => server[Symbol.asyncDispose]());

/** A connection of our own, on which nothing is read until `begin`. */
async function send(head: string, body = ""): Promise<net.Socket> {
  const socket = net.connect(Number(new URL(server.url).port), "127.0.0.1");
  sockets.push(socket);
  socket.on("error", () => {
    // The server may end it.
  });
  await once(socket, "connect");
  const fields = ["Host: localhost", `Authorization: Bearer ${greedy.text}`, "Content-Type: application/json"];
  socket.write(`${head}\r\n${fields.join("\r\n")}\r\n`);
  socket.write(body);
  return socket;
}

/** The beginning of an answer, as soon as there is any; the rest stays unread. */
async function begin(socket: net.Socket, bytes = 2000): Promise<string> {
  await once(socket, "readable");
  const read = socket.read(Math.min(bytes, socket.readableLength)) as Buffer;
  return read.toString();
}

/** An upload that stops shortly before its end. */
const upload = (route: string): Promise<net.Socket> =>
  send(`${route} HTTP/1.1`, `Content-Length: ${16 * mebibyte}\r\n\r\n{"code":"${"x".repeat(15 * mebibyte)}`);

/** Of five uploads, which do not fit, one is answered: whichever was read last. */
const firstRefusal = (route: string): Promise<string> =>
  Promise.race([
    ...Array.from({ length: 5 }, async () => begin(await upload(route))),
    setTimeout(20_000, "none", { ref: false }),
  ]);

describe("a key that overflows", () => {
  it("with messages to MCP that do not end is refused alone", async () => {
    expect(await firstRefusal("POST /mcp")).toMatch(/^HTTP\/1\.1 429 [^]*"error_type":"CAPACITY"/);
    expect(await (await other.ask(execute, program("print(6 * 7)"))).json()).toMatchObject({ stdout: "42\n" });
  });

  it("with uploads that do not end is refused alone", async () => {
    const answer = await firstRefusal("POST /api/sandbox/execute");
    expect(answer).toMatch(/^HTTP\/1\.1 429 [^]*connection: close[^]*"CAPACITY"[^]*"in_flight_bytes":67108864/i);
    expect(await (await other.ask(execute, program("print(6 * 7)"))).json()).toMatchObject({ stdout: "42\n" });
  });

  it("with answers that it does not read is refused alone, and reads them later", async () => {
    const run = await greedy.ask(execute, program(floods));
    const id = run.headers.get("glovebox-run-id") ?? "";
    expect((await run.text()).length).toBeGreaterThan(18_000_000);
    const answers: string[] = [];
    for (let count = 0; count < 4; count += 1) {
      answers.push(
        (await begin(await send(`GET /api/sandbox/${id} HTTP/1.1\r\nConnection: close`, "\r\n"))).slice(0, 12),
      );
    }
    expect(answers).toEqual([...["HTTP/1.1 200", "HTTP/1.1 200", "HTTP/1.1 200"], "HTTP/1.1 429"]);
    expect(await (await other.ask(execute, program("print(6 * 7)"))).json()).toMatchObject({ stdout: "42\n" });
    sockets[0]?.destroy();
    await until(async () => (await greedy.ask(`GET /api/sandbox/${id}`)).status === 200);
  });

  it("finds the answer of a program in a sandbox later when there was no room for it, by WebSocket and without", async () => {
    const { session_id: session } = (await (await greedy.ask("POST /api/sessions", {})).json()) as {
      session_id: string;
    };
    const begun = await greedy.ask(`POST /api/sessions/${session}/runs`, program("print(1)"));
    const { sandbox_id: sandbox } = (await begun.json()) as { sandbox_id: string };
    const large = await greedy.ask(execute, program(floods));
    const largeId = large.headers.get("glovebox-run-id") ?? "";
    await large.text();
    // Three answers that nobody reads: a fourth is too much.
    for (let count = 0; count < 3; count += 1) {
      await begin(await send(`GET /api/sandbox/${largeId} HTTP/1.1\r\nConnection: close`, "\r\n"));
    }
    const request = { command: ["python3", "-c", floods] };
    const route = `/api/sandbox/${sandbox}/exec`;
    const plain = (await (await greedy.ask(`POST ${route}`, request)).json()) as Refusal;
    const live = await execLive(route, request);
    for (const refused of [plain, live]) {
      const { id } = refused.context;
      expect(refused).toMatchObject({
        error_type: "CAPACITY",
        suggestion: expect.stringContaining(`GET /api/sandbox/${id}`) as string,
      });
    }
    for (const socket of sockets.splice(0)) socket.destroy();
    for (const { context } of [plain, live]) {
      // Once the connections have been ended; it is never unknown.
      let answer: Response;
      do answer = await greedy.ask(`GET /api/sandbox/${context.id}`);
      while (answer.status === 429);
      expect(answer.status).toBe(200);
      const { result } = (await answer.json()) as { result: { exit_code: number; stdout: string } };
      expect([result.exit_code, result.stdout.length]).toEqual([0, 9_000_000]);
      expect((await other.ask(`GET /api/sandbox/${context.id}`)).status).toBe(404);
    }
  });

  it("with requests behind an unanswered one has only the first of them done", async () => {
    const before = await count();
    const opening = `POST /api/sessions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${greedy.text}\r\n\r\n`;
    const socket = await send("POST /api/sessions HTTP/1.1", `Content-Length: 2\r\n\r\n{}${opening.repeat(3)}`);
    let heard = "";
    socket.setEncoding("utf8").on("data", (piece: string) => (heard += piece));
    await once(socket, "close");
    expect(heard.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200"]);
    expect(await count()).toBe(before + 1);
  });
});

async function count(): Promise<number> {
  const { sessions } = (await (await greedy.ask("GET /api/sessions")).json()) as { sessions: unknown[] };
  return sessions.length;
}

interface Refusal {
  readonly error_type: string;
  readonly suggestion: string;
  readonly context: { readonly id: string };
}

/** The error with which a program's WebSocket ends; its output is taken as it comes. */
async function execLive(route: string, request: object): Promise<Refusal> {
  const headers = { authorization: `Bearer ${greedy.text}` };
  const socket = new WebSocket(`${server.url.replace("http", "ws")}${route}`, { headers });
  let last: { readonly event?: string; readonly error?: Refusal } = {};
  socket.on("message", (data: Buffer, isBinary) => {
    if (isBinary) socket.send(JSON.stringify({ type: "credit", bytes: data.length - 1 }));
    else last = JSON.parse(data.toString()) as typeof last;
  });
  await once(socket, "open");
  socket.send(JSON.stringify({ type: "start", request }));
  await once(socket, "close");
  if (last.error === undefined) throw new Error(`It ended with ${last.event}.`);
  return last.error;
}
