import { afterAll, beforeAll, expect, it } from "vitest";
import { WebSocket, type ClientOptions } from "ws";
import { serveGlovebox, type ServedGlovebox } from "../helpers/served-glovebox.ts";
import { until } from "../helpers/until.ts";

interface Entry {
  readonly offset: number;
  readonly stream: string;
  readonly message: string;
  readonly dropped?: number;
}
interface Followed {
  readonly entries: Entry[];
  readonly closed: Promise<number>;
  readonly socket: WebSocket;
}

let served: ServedGlovebox;
beforeAll(async () => void (served = await serveGlovebox()));
afterAll(() => served[Symbol.asyncDispose]());

function open(route: string, options: ClientOptions = {}): WebSocket {
  const headers = { authorization: `Bearer ${served.token}` };
  return new WebSocket(`${served.url.replace("http", "ws")}${route}`, { headers, ...options });
}

function follow(route: string, options?: ClientOptions): Followed {
  const socket = open(route, options);
  const entries: Entry[] = [];
  socket.on("message", (data) => entries.push(JSON.parse((data as Buffer).toString("utf8")) as Entry));
  const closed = new Promise<number>((resolve) => void socket.on("close", (code) => resolve(code)));
  socket.on("error", () => undefined);
  return { entries, closed, socket };
}

/** The HTTP status with which a WebSocket is refused. */
function refusal(route: string, options?: ClientOptions): Promise<number> {
  const socket = open(route, options);
  return new Promise((resolve, reject) => {
    socket.on("unexpected-response", (request, { statusCode = 0 }) => {
      request.destroy();
      resolve(statusCode);
    });
    socket.on("open", () => {
      socket.terminate();
      reject(new Error("It opened."));
    });
    socket.on("error", () => undefined);
  });
}

/** Starts a program that keeps running, and resolves to its sandbox. */
async function start(code: string): Promise<string> {
  const headers = {
    authorization: `Bearer ${served.token}`,
    "content-type": "application/json",
    prefer: "respond-async",
  };
  const body = JSON.stringify({ language: "python", code, timeout_seconds: 100 });
  const answer = await fetch(`${served.url}/api/sandbox/execute`, { method: "POST", headers, body });
  expect(answer.status).toBe(202);
  const { sandbox_id: id } = (await answer.json()) as { readonly sandbox_id: string };
  // There is no log before there is a sandbox.
  await until(async () => (await served.call("GET", `/api/sandbox/${id}/logs`)).status === 200);
  return id;
}

const slowLines = "import time\nfor i in range(60):\n  print(i, flush=True)\n  time.sleep(0.05)";

it("replays what came before, goes on live, and closes at the log's end", async () => {
  const id = await start(slowLines);
  await until(async () =>
    JSON.stringify((await served.call("GET", `/api/sandbox/${id}/logs`)).body).includes('"message":"5"'),
  );
  const first = follow(`/api/sandbox/${id}/logs`);
  await until(() => first.entries.length > 8);
  const late = follow(`/api/sandbox/${id}/logs?offset=7&stream=stdout`);
  expect(await first.closed).toBe(1000);
  expect(await late.closed).toBe(1000);
  const lines = first.entries.filter(({ stream }) => stream === "stdout").map(({ message }) => message);
  expect(lines).toEqual(Array.from({ length: 60 }, (_, index) => String(index)));
  expect(first.entries.map(({ offset }) => offset)).toEqual(first.entries.map((_, index) => index));
  expect(late.entries.map(({ offset }) => offset)).toEqual(
    first.entries.filter(({ offset, stream }) => offset >= 7 && stream === "stdout").map(({ offset }) => offset),
  );
});

it("opens with a ticket, once, and with nothing else but a token", async () => {
  const id = await start("print(1)");
  const { body } = await served.call("POST", "/api/tickets", {});
  const { ticket, expires_in_seconds: seconds } = body as { ticket: string; expires_in_seconds: number };
  expect(seconds).toBe(30);
  const route = `/api/sandbox/${id}/logs?ticket=${ticket}`;
  expect(await follow(route, { headers: {} }).closed).toBe(1000);
  expect(await refusal(route, { headers: {} })).toBe(401);
  expect(await refusal(`/api/sandbox/${id}/logs?ticket=${"a".repeat(43)}`, { headers: {} })).toBe(401);
  expect(await refusal(`/api/sandbox/${id}/logs`, { headers: {} })).toBe(401);
  const { body: second } = await served.call("POST", "/api/tickets", {});
  const plain = await fetch(`${served.url}/api/sandbox/${id}/logs?ticket=${(second as { ticket: string }).ticket}`);
  expect(plain.status, "a ticket is for WebSockets only").toBe(401);
});

it("refuses a bad offset, an unknown sandbox and a foreign origin before it opens", async () => {
  const id = await start("print(1)");
  expect(await refusal(`/api/sandbox/${id}/logs?offset=-1`)).toBe(400);
  expect(await refusal(`/api/sandbox/${id}/logs?offset=x`)).toBe(400);
  expect(await refusal("/api/sandbox/sbx-unknown/logs")).toBe(404);
  const headers = { authorization: `Bearer ${served.token}` };
  expect(await refusal(`/api/sandbox/${id}/logs`, { headers, origin: "https://elsewhere.example" })).toBe(403);
});

it("waits for a reader that never reads, and slows nothing", async () => {
  const id = await start("import time\ntime.sleep(0.5)\nfor i in range(200000): print('x' * 100)");
  const silent = follow(`/api/sandbox/${id}/logs`);
  await until(() => silent.socket.readyState === WebSocket.OPEN);
  silent.socket.pause();
  const reader = follow(`/api/sandbox/${id}/logs`);
  expect(await reader.closed).toBe(1000);
  const counted = reader.entries.reduce((sum, { dropped = 1 }) => sum + dropped, 0);
  const last = reader.entries.at(-1);
  expect(counted).toBe((last?.offset ?? 0) + (last?.dropped ?? 1));
  expect(counted).toBe(200_004);
  silent.socket.resume();
  expect(await silent.closed).toBe(1000);
  expect(silent.entries.reduce((sum, { dropped = 1 }) => sum + dropped, 0)).toBe(200_004);
});
