import { McpServer } from "@modelcontextprotocol/server";
import { expect, it } from "vitest";
import { HttpSessions } from "./serve-over-http.ts";

const url = "http://localhost/mcp";
const headers = { "content-type": "application/json", accept: "application/json, text/event-stream" };
const clientInfo = { name: "test", version: "1" };
const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
const initialize = { jsonrpc: "2.0", id: 1, method: "initialize", params };
const ping = { jsonrpc: "2.0", id: 2, method: "ping" };

/** Sessions of several principals, each used in the order in which it was opened. */
function scene() {
  const ended: string[] = [];
  let nowMs = 0;
  const sessions = new HttpSessions({
    createServer: () => new McpServer({ name: "test", version: "1" }),
    onEnd: (principal) => ended.push(principal),
    monotonicMs: () => (nowMs += 1),
  });
  const open = async (principal: string): Promise<string> => {
    const request = new Request(url, { method: "POST", headers });
    const answer = await sessions.open(principal, request, initialize);
    return answer.headers.get("mcp-session-id") ?? "";
  };
  const isOpen = async (principal: string, id: string): Promise<boolean> => {
    const request = new Request(url, { method: "POST", headers: { ...headers, "mcp-session-id": id } });
    return (await sessions.handle(id, principal, { request, body: ping })).status === 200;
  };
  return { sessions, ended, open, isOpen };
}

it("a principal with too many sessions loses its own that was idle longest, and nobody else's", async () => {
  const { sessions, ended, open, isOpen } = scene();
  const modest = await open("modest");
  const first = await open("greedy");
  const second = await open("greedy");
  expect(await isOpen("greedy", first)).toBe(true);
  // All at once.
  await Promise.all(Array.from({ length: 127 }, () => open("greedy")));
  expect(ended).toEqual(["greedy"]);
  expect([await isOpen("greedy", second), await isOpen("greedy", first), await isOpen("modest", modest)]).toEqual([
    ...[false, true],
    true,
  ]);
  await sessions.close();
});

it("when there are too many of all, who has most loses its own", async () => {
  const { sessions, ended, open, isOpen } = scene();
  const modest = await open("modest");
  for (const [name, count] of Object.entries({ a: 100, b: 100, c: 55 })) {
    for (let each = 0; each < count; each += 1) await open(name);
  }
  expect(ended).toEqual([]);
  const late = await open("late");
  await open("late");
  expect(ended).toEqual(["a", "b"]);
  expect([await isOpen("modest", modest), await isOpen("late", late)]).toEqual([true, true]);
  await sessions.close();
});
