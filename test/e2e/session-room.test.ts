import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { loadHostConfig } from "../../src/config/load-config.ts";
import type { RunCodeRequest, RunCodeResponse } from "../helpers/wire-glovebox.ts";
import { parseRequest } from "../../src/operations/contract/parse-request.ts";
import {
  listProcessesHandler,
  stopProcessHandler,
  startProcessHandler,
} from "../../src/operations/processes-handler.ts";
import { startProcessContract } from "../../src/operations/processes-contract.ts";
import { endSessionHandler, runCodeHandler } from "../../src/operations/session-handler.ts";
import { runCodeContract } from "../../src/operations/session-contract.ts";
import { createPlatform, type Platform } from "../../src/platform/platform.ts";
import { failureOf } from "../helpers/failure-of.ts";
import { startHttpMcp } from "../helpers/http-mcp.ts";
import { engines, useGlovebox } from "../helpers/open-glovebox.ts";
import { useOwnSandboxes } from "../helpers/own-sandboxes.ts";
import { skipOrFail } from "../helpers/require.ts";
import { sessionImages } from "../helpers/test-images.ts";

/** More sessions than places: waiting ones make idle ones give up theirs. */
const places = 2;

describe.each(engines)("sessions of several callers on %s", (engine) => {
  let platform: Platform;
  let problem: string | null = null;
  beforeAll(async () => {
    const { config, host } = await loadHostConfig({ settings: { images: sessionImages, max_containers: places } });
    platform = await createPlatform({ config, host, door: "person", defaultEngine: engine });
    problem = await platform.chooseSessionEngine(undefined).then(
      () => null,
      (error: unknown) => String(error),
    );
  });
  beforeEach((context) => {
    if (problem !== null) skipOrFail(context, engine, problem);
  });
  afterAll(() => platform.close());

  const call = (
    principal: string,
    request: Omit<RunCodeRequest, "language" | "packages">,
    connection?: string,
  ): Promise<RunCodeResponse> =>
    runCodeHandler.run(platform, parseRequest(runCodeContract, { language: "python", packages: [], ...request }), {
      principal,
      connection,
    });

  it("one in which a background process runs keeps its place", async () => {
    const owner = { principal: "three" };
    const start = parseRequest(startProcessContract, { command: ["sleep", "1000"] });
    const { session_id, process_id } = await startProcessHandler.run(platform, start, owner);
    const address = { session_id, process_id };
    for (let number = 0; number < places; number += 1) {
      expect(await call("three", { code: "print(1)" })).toMatchObject({ outcome: "completed" });
    }
    const { processes } = await listProcessesHandler.run(platform, address, owner);
    expect(processes).toMatchObject([{ state: "running" }]);
    expect(platform.sessions.find(session_id, owner)?.canStop).toBe(false);
    await stopProcessHandler.run(platform, address, owner);
    expect(platform.sessions.find(session_id, owner)?.canStop).toBe(true);
  });

  it("idle ones make room and come back with their files", async () => {
    const ids: string[] = [];
    for (let number = 0; number < places + 2; number += 1) {
      const code = `import os\nos.makedirs('d/e')\nopen('d/e/n', 'w').write('${number}')\nos.chmod('d/e/n', 0o400)`;
      const made = await call("one", { code });
      expect(made).toMatchObject({ outcome: "completed", restarted: false });
      ids.push(made.session_id);
      expect(platform.sandboxes.live.length).toBeLessThanOrEqual(places);
    }
    expect(new Set(ids).size).toBe(places + 2);
    for (const [number, id] of ids.entries()) {
      const again = await call("one", { code: "print(open('d/e/n').read())", session_id: id });
      expect(again).toMatchObject({ outcome: "completed", stdout: `${number}\n`, session_id: id });
    }
    const all = await Promise.all(
      ids.map((id) => call("one", { code: "print(open('d/e/n').read())", session_id: id })),
    );
    expect(all.map(({ stdout }) => stdout)).toEqual(ids.map((_, number) => `${number}\n`));
    await platform.sessions.close();
    expect(platform.sandboxes.live).toEqual([]);
  });

  it("clients cannot reach each other's sessions", async () => {
    const fresh = await createPlatform({
      config: platform.config,
      host: platform.host,
      door: "person",
      defaultEngine: engine,
    });
    try {
      platform = fresh;
      const mine = await call("one", { code: "open('secret', 'w').write('x')" }, "connection");
      const error = await failureOf(call("two", { code: "1", session_id: mine.session_id }), "NOT_FOUND");
      expect(error.context["session_ids"]).toEqual([]);
      const end = { session_id: mine.session_id };
      await failureOf(endSessionHandler.run(platform, end, { principal: "two" }), "NOT_FOUND");
      const other = await call("two", { code: "import os\nprint(os.listdir('.'))" }, "connection");
      expect(other).toMatchObject({ stdout: "[]\n" });
      expect(other.session_id).not.toBe(mine.session_id);
      expect((await call("one", { code: "1" }, "connection")).session_id).toBe(mine.session_id);
      await platform.sessions.endConnection({ principal: "one", connection: "connection" });
      await failureOf(call("one", { code: "1", session_id: mine.session_id }), "NOT_FOUND");
    } finally {
      await fresh.close();
    }
  });
});

const sandboxes = useOwnSandboxes();

describe.each(engines)("ten MCP clients of one server with three places on %s", (engine) => {
  useGlovebox(engine);

  it("all get their answers, with the files of their earlier calls", { timeout: 240_000 }, async () => {
    const server = await startHttpMcp(["--engine", engine], {
      ...sandboxes.environment(),
      MAX_CONTAINERS: "3",
      GLOVEBOX_QUEUE_TIMEOUT: "200s",
      GLOVEBOX_IMAGE_SESSION: sessionImages.session,
    });
    try {
      const clients = await Promise.all(
        Array.from({ length: 10 }, async () => {
          const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: "legacy" } });
          await client.connect(
            new StreamableHTTPClientTransport(new URL(server.url), { requestInit: { headers: server.headers } }),
          );
          return client;
        }),
      );
      /** What the client's session contains after one more line. */
      const call = async (number: number, line: string): Promise<Partial<RunCodeResponse>> => {
        const code = `open('lines', 'a').write('${number} ${line}\\n')\nprint(open('lines').read())`;
        const request = { name: "run_code", arguments: { language: "python", code, packages: [] } };
        const options = { timeout: 200_000 };
        return (await clients[number]?.callTool(request, options))?.structuredContent as Partial<RunCodeResponse>;
      };
      const sessions = new Set<string | undefined>();
      const lines: string[] = [];
      for (const line of ["first", "second"]) {
        lines.push(line);
        for (const number of clients.keys()) {
          const answer = await call(number, line);
          const stdout = `${lines.map((each) => `${number} ${each}\n`).join("")}\n`;
          expect(answer).toMatchObject({ outcome: "completed", stdout, restarted: line !== "first" });
          sessions.add(answer.session_id);
        }
      }
      expect(sessions.size).toBe(clients.length);
      expect((await sandboxes.on(engine)).length).toBeLessThanOrEqual(3);
      const atOnce = await Promise.all([...clients.keys()].map((number) => call(number, "third")));
      expect(atOnce.map(({ stdout }) => stdout)).toEqual(
        [...clients.keys()].map((number) => `${number} first\n${number} second\n${number} third\n\n`),
      );
    } finally {
      server.child.kill("SIGTERM");
    }
    expect(await server.ended).toBe(0);
    expect(await sandboxes.on(engine)).toEqual([]);
  });
});
