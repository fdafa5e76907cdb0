import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { loadHostConfig } from "../../../src/config/load-config.ts";
import { serveOverHttp } from "../../../src/mcp/serve-over-http.ts";
import { McpDoor } from "../../../src/mcp/mcp-door.ts";
import { operationCaller } from "../../../src/operations/handler.ts";
import { operationTable } from "../../../src/operations/table.ts";
import { createPlatform } from "../../../src/platform/platform.ts";
import { HeaderForwarder } from "../header-forwarder.ts";
import { FixtureDoor } from "./fixture-door.ts";
import { fixtureHandlers } from "./fixture-handlers.ts";

const token = "token-of-the-suite";

/** Runs the whole suite against our door, or the fixture door; resolves to the scenarios by whether they passed. */
export async function runSuite(doorKind: "glovebox" | "fixtures"): Promise<ReadonlyMap<string, boolean>> {
  const { config, host } = await loadHostConfig({});
  const platform = await createPlatform({ config, host, door: "server" });
  const handlers = new Map(fixtureHandlers.map((handler) => [handler.contract.name, async () => handler]));
  const door =
    doorKind === "glovebox"
      ? new McpDoor({ platform, operations: operationTable, version: "0", answerWithinMs: 45_000 })
      : new FixtureDoor({
          platform: { ...platform, call: operationCaller(handlers, platform, () => null) },
          operations: fixtureHandlers.map(({ contract }) => contract),
          version: "0",
          answerWithinMs: 45_000,
        });
  const ending = new AbortController();
  const { promise: listening, resolve: onListening } = Promise.withResolvers<string>();
  // The suite cannot send a token.
  await using forwarder = await HeaderForwarder.to(listening, { authorization: `Bearer ${token}` });
  const served = serveOverHttp(door, {
    host: "127.0.0.1",
    port: 0,
    principal: "test",
    token,
    allowedOrigins: [forwarder.origin],
    signal: ending.signal,
    onListening,
  });
  const folder = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-"));
  try {
    await listening;
    return verdicts(await output(`${forwarder.origin}/mcp`, folder));
  } finally {
    ending.abort();
    await served;
    await door.close();
    rmSync(folder, { recursive: true });
  }
}

async function output(url: string, folder: string): Promise<string> {
  const suite = path.join(
    path.dirname(createRequire(import.meta.url).resolve("@modelcontextprotocol/conformance/package.json")),
    "dist/index.js",
  );
  // It writes its results into its working directory.
  const child = spawn(process.execPath, [suite, "server", "--url", url, "--suite", "all"], { cwd: folder });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  }
  await once(child, "close");
  return text;
}

function verdicts(text: string): ReadonlyMap<string, boolean> {
  return new Map([...text.matchAll(/^([✓✗]) ([\w-]+):/gmu)].map(([, mark, name]) => [name ?? "", mark === "✓"]));
}
