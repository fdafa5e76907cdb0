import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { loadHostConfig } from "../../src/config/host-config.ts";
import { McpDoor } from "../../src/mcp/mcp-door.ts";
import { serveOverHttp } from "../../src/mcp/http/serve-over-http.ts";
import { operationCaller } from "../../src/operations/handling/handler.ts";
import { createPlatform } from "../../src/platform/platform.ts";
import { HeaderForwarder } from "../helpers/header-forwarder.ts";
import { fixtureHandlers } from "../helpers/conformance/fixture-handlers.ts";

const passing = [
  "dns-rebinding-protection",
  "json-schema-2020-12",
  "logging-set-level",
  "ping",
  "resources-list",
  "server-initialize",
  "server-sse-multiple-streams",
  "server-sse-polling",
  "tools-call-error",
  "tools-call-image",
  "tools-call-simple-text",
  "tools-call-with-progress",
  "tools-list",
];

/** Scenarios of abilities that Glovebox does not offer, by the reason. */
const notOffered: Readonly<Record<string, readonly string[]>> = {
  "there are no prompts": [
    "prompts-list",
    "prompts-get-simple",
    "prompts-get-with-args",
    "prompts-get-embedded-resource",
    "prompts-get-with-image",
  ],
  "prompts and fixed resources are what completion is for": ["completion-complete"],
  "resources are what answers left out; the suite asks for some of its own": [
    "resources-read-text",
    "resources-read-binary",
    "resources-templates-read",
  ],
  "no resource ever changes": ["resources-subscribe", "resources-unsubscribe"],
  "logs go to stderr; the only log messages are alerts": ["tools-call-with-logging"],
  "no tool asks the client's model or its user": [
    "tools-call-sampling",
    "tools-call-elicitation",
    "elicitation-sep1034-defaults",
    "elicitation-sep1330-enums",
  ],
  "answers are text, pictures and links": [
    "tools-call-audio",
    "tools-call-embedded-resource",
    "tools-call-mixed-content",
  ],
};

/** Runs the suite against a door that offers its fixture tools; resolves to the scenarios by whether they passed. */
async function conformance(): Promise<ReadonlyMap<string, boolean>> {
  const { config, host } = await loadHostConfig({});
  const opened = createPlatform({ config, host, door: "server" });
  const platform = { ...opened, call: operationCaller(fixtureHandlers, opened, () => null) };
  const operations = fixtureHandlers.map(({ contract }) => contract);
  const door = new McpDoor({ platform, operations, version: "0", answerWithinMs: 45_000 });
  const ending = new AbortController();
  const { promise: listening, resolve: onListening } = Promise.withResolvers<string>();
  const token = "token-of-the-suite";
  // The suite can send no token of its own.
  await using suite = await HeaderForwarder.to(listening, { authorization: `Bearer ${token}` });
  const served = serveOverHttp(door, {
    host: "127.0.0.1",
    port: 0,
    principal: "test",
    token,
    allowedOrigins: [suite.origin],
    signal: ending.signal,
    onListening,
  });
  const folder = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-"));
  try {
    await listening;
    return scenarios(await output(`${suite.origin}/mcp`, folder));
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
  // It writes its results into its folder.
  const child = spawn(process.execPath, [suite, "server", "--url", url, "--suite", "all"], { cwd: folder });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  }
  await once(child, "close");
  return text;
}

function scenarios(text: string): ReadonlyMap<string, boolean> {
  return new Map([...text.matchAll(/^([✓✗]) ([\w-]+):/gmu)].map(([, mark, name]) => [name ?? "", mark === "✓"]));
}

describe("the conformance suite for servers", () => {
  it("passes what Glovebox offers", async () => {
    const results = await conformance();
    expect([...results.keys()].toSorted()).toEqual([...passing, ...Object.values(notOffered).flat()].toSorted());
    expect([...results].flatMap(([name, passed]) => (passed ? [name] : [])).toSorted()).toEqual(passing);
  });
});
