import { once } from "node:events";
import { expect, it } from "vitest";
import { WebSocket } from "ws";
import { until } from "../helpers/until.ts";
import { startKeyServer, type TestKey } from "../helpers/key-server.ts";

const textOf = async (answer: Promise<Response>): Promise<Readonly<Record<string, string>>> =>
  (await (await answer).json()) as Record<string, string>;

it("a revoked key is told CANCELLED in whatever it still has open: waits, logs, MCP", async () => {
  await using server = await startKeyServer();
  const eve = await server.addKey("eve");
  const both = { accept: "application/json, text/event-stream" };
  const clientInfo = { name: "test", version: "1" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  const hello = { jsonrpc: "2.0", id: 1, method: "initialize", params };
  const begun = await eve.ask("POST /mcp", hello, both);
  const session = {
    "mcp-session-id": begun.headers.get("mcp-session-id") ?? "",
    "mcp-protocol-version": "2025-11-25",
  };
  await begun.text();
  const listening = await eve.ask("GET /mcp", undefined, { accept: "text/event-stream", ...session });
  const running = await textOf(eve.ask("POST /api/sessions", {}));
  const sandbox = await textOf(
    eve.ask(`POST /api/sessions/${running["session_id"]}/runs`, { language: "python", code: "print(1)" }),
  );
  const logs = `/api/sandbox/${sandbox["sandbox_id"]}/logs`;
  const socket = new WebSocket(`${server.url.replace("http", "ws")}${logs}`, {
    headers: { authorization: `Bearer ${eve.text}` },
  });
  await once(socket, "open");
  const closed = once(socket, "close");
  const waiting = eve.ask(`GET ${logs}?wait_seconds=30&offset=1000`);
  await server.revoke(eve);
  expect(await listening.text()).toMatch(/"method":"notifications\/message".*"error_type":"CANCELLED"/);
  expect(String(((await closed) as unknown[])[1])).toContain("CANCELLED");
  expect(await (await waiting).json()).toMatchObject({ error_type: "CANCELLED" });
});

it("a revoked key's calls by MCP 2026-07-28 end with CANCELLED, and no subscription stays open at all", async () => {
  await using server = await startKeyServer();
  const [eve, ann] = [await server.addKey("eve"), await server.addKey("ann")];
  const revision = "2026-07-28";
  const meta = {
    "io.modelcontextprotocol/protocolVersion": revision,
    "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" },
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const post = (key: TestKey, method: string, params: object): Promise<Response> =>
    key.ask(
      "POST /mcp",
      { jsonrpc: "2.0", id: 7, method, params: { ...params, _meta: meta } },
      {
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": revision,
        "mcp-method": method,
        ...("name" in params ? { "mcp-name": String(params.name) } : {}),
      },
    );
  // There is nothing to be told of: a key that ends has no such stream to lose.
  const notifications = { toolsListChanged: true, resourcesListChanged: true, promptsListChanged: true };
  expect(await (await post(eve, "subscriptions/listen", { notifications })).text()).toMatch(
    /"notifications":\{\}[^]*"id":7,"result":\{"resultType":"complete"/,
  );
  const sleeping = { name: "execute_code", arguments: { language: "python", code: "import time; time.sleep(40)" } };
  const hers = post(eve, "tools/call", sleeping);
  let isOver = false;
  const others = post(ann, "tools/call", sleeping).finally(() => (isOver = true));
  for (const key of [eve, ann]) {
    await until(async () => (await (await key.ask("GET /api/sandbox")).text()).includes('"sbx-'));
  }
  await server.revoke(eve);
  expect(await (await hers).text()).toMatch(/"error_type":"CANCELLED"/);
  expect(isOver).toBe(false);
  expect((await post(eve, "subscriptions/listen", { notifications })).status).toBe(401);
  await server.revoke(ann);
  await others;
});
