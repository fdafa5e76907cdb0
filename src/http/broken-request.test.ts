import { once } from "node:events";
import { connect, createServer, Socket, type AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it } from "vitest";
import { takesItsTime, answerBrokenRequest } from "./broken-request.ts";

/** Gives up each connection as one whose request did not come: at once, or after its first bytes. */
const server = createServer((socket) => {
  const giveUp = (): void =>
    answerBrokenRequest(Object.assign(new Error("late"), { code: "ERR_HTTP_REQUEST_TIMEOUT" }), socket);
  const timer = setTimeout(giveUp, 200);
  socket.once("data", () => {
    clearTimeout(timer);
    giveUp();
  });
});

beforeAll(async () => void (await once(server.listen(0, "127.0.0.1"), "listening")));
afterAll(() => void server.close());

/** What a client that sends this gets before the connection ends. */
async function answerTo(sent: string): Promise<string> {
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  if (sent !== "") socket.write(sent);
  return text(socket);
}

it("a request of which only a part came is answered", async () => {
  const answer = await answerTo("POST / HTTP/1.1\r\n");
  expect(answer).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
  expect(answer).toContain("The request did not arrive in time.");
});

it("a connection on which nothing came is closed without an answer", async () => {
  expect(await answerTo("")).toBe("");
});

it("an upload that may take its time is not ended by the time for a request", () => {
  const socket = new Socket();
  takesItsTime(socket);
  // Of another connection, whose upload has been answered.
  const answered = new Socket();
  takesItsTime(answered)();
  answerBrokenRequest(Object.assign(new Error("late"), { code: "ERR_HTTP_REQUEST_TIMEOUT" }), socket);
  expect(socket.destroyed).toBe(false);
  answerBrokenRequest(Object.assign(new Error("late"), { code: "ERR_HTTP_REQUEST_TIMEOUT" }), answered);
  expect(answered.destroyed).toBe(true);
  answerBrokenRequest(Object.assign(new Error("reset"), { code: "ECONNRESET" }), socket);
  expect(socket.destroyed).toBe(true);
});
