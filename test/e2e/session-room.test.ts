import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { loadHostConfig } from "../../src/config/host-config.ts";
import type { RunCodeRequest, RunCodeResponse } from "../../src/index.ts";
import { parseRequest } from "../../src/operations/parse-request.ts";
import { listProcessesOperation, stopProcessOperation } from "../../src/operations/processes/run.ts";
import { startProcessOperation } from "../../src/operations/processes/start-process.ts";
import { endSessionOperation } from "../../src/operations/session/end-session.ts";
import { runCodeOperation } from "../../src/operations/session/run-code.ts";
import { createPlatform, type Platform } from "../../src/platform/platform.ts";
import { failureOf } from "../helpers/failure-of.ts";
import { engines } from "../helpers/open-glovebox.ts";
import { skipOrFail } from "../helpers/require.ts";
import { sessionImages } from "../helpers/test-images.ts";

/** More sessions than places: those that wait make idle ones give theirs up. */
const places = 2;

describe.each(engines)("sessions of several callers on %s", (engine) => {
  let platform: Platform;
  let problem: string | null = null;
  beforeAll(async () => {
    const { config, host } = await loadHostConfig({ settings: { images: sessionImages, max_containers: places } });
    platform = createPlatform({ config, host, door: "own-machine", defaultEngine: engine });
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
    runCodeOperation.run(
      platform,
      parseRequest(runCodeOperation.request, { language: "python", packages: [], ...request }),
      { principal, connection },
    );

  it("one in which a background process runs keeps its place", async () => {
    const owner = { principal: "three" };
    const start = parseRequest(startProcessOperation.request, { command: ["sleep", "1000"] });
    const { session_id, process_id } = await startProcessOperation.run(platform, start, owner);
    const address = { session_id, process_id };
    for (let number = 0; number < places; number += 1) {
      expect(await call("three", { code: "print(1)" })).toMatchObject({ outcome: "completed" });
    }
    const { processes } = await listProcessesOperation.run(platform, address, owner);
    expect(processes).toMatchObject([{ state: "running" }]);
    expect(platform.sessions.find(session_id, owner)?.canStop).toBe(false);
    await stopProcessOperation.run(platform, address, owner);
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

  it("nobody reaches another's session", async () => {
    const fresh = createPlatform({
      config: platform.config,
      host: platform.host,
      door: "own-machine",
      defaultEngine: engine,
    });
    try {
      platform = fresh;
      const mine = await call("one", { code: "open('secret', 'w').write('x')" }, "connection");
      const error = await failureOf(call("two", { code: "1", session_id: mine.session_id }), "NOT_FOUND");
      expect(error.context["session_ids"]).toEqual([]);
      const end = { session_id: mine.session_id };
      await failureOf(endSessionOperation.run(platform, end, { principal: "two" }), "NOT_FOUND");
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
