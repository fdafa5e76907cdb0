import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startKeyServer, type KeyServer, type TestKey } from "../helpers/key-server.ts";
import { isRequired } from "../helpers/require.ts";
import { testImages } from "../helpers/test-images.ts";

type Json = Readonly<Record<string, unknown>>;

const mebibyte = 2 ** 20;

describe.each(["docker"] as const)("commands over plain HTTP on %s", (engine) => {
  let server: KeyServer;
  let ann: TestKey;
  let bob: TestKey;
  let sandbox = "";
  beforeAll(async () => {
    if (!isRequired(engine)) return;
    server = await startKeyServer(["--engine", engine]);
    [ann, bob] = [await server.addKey("ann"), await server.addKey("bob")];
    const made = await ann.ask("POST /api/environments", { env_id: "mine", image: testImages.python });
    sandbox = String(((await made.json()) as Json)["sandbox_id"]);
  });
  beforeEach((context) => {
    if (!isRequired(engine)) context.skip(`GLOVEBOX_TEST_REQUIRE does not list ${engine}`);
  });
  afterAll(async () => {
    if (isRequired(engine)) await server[Symbol.asyncDispose]();
  });

  const run = async (body: Json, key = ann): Promise<Json> => {
    const response = await key.ask("POST /api/environments/mine/commands", body);
    return { status: response.status, ...((await response.json()) as Json) };
  };

  it("get standard input of any size that a body may have, and whole outputs", async () => {
    const stdin = "0123456789abcde\n".repeat((8 * mebibyte) / 16);
    expect(await run({ command: "cat", stdin, tail_bytes: 10 * mebibyte })).toMatchObject({
      ...{ status: 200, outcome: "completed", stdout_tail: stdin, stderr_tail: "" },
      ...{ stdout_dropped_bytes: 0, stderr_dropped_bytes: 0 },
    });
    // Twice: the second one is a shell that has waited for its command.
    for (const _ of [1, 2]) {
      expect(await run({ command: ["wc", "-c"], stdin: "ß\n" })).toMatchObject({ stdout_tail: "3\n" });
      expect(await run({ command: ["wc", "-c"] })).toMatchObject({ stdout_tail: "0\n" });
    }
    const executed = await ann.ask(`POST /api/sandbox/${sandbox}/exec`, { command: "cat; echo >&2 e", stdin });
    expect(await executed.json()).toMatchObject({ exit_code: 0, stdout: stdin, stderr: "e\n" });
  }, 60_000);

  it("that do not read it, or end before, are not held up by it", async () => {
    const stdin = "x".repeat(4 * mebibyte);
    expect(await run({ command: "exit 3", stdin })).toMatchObject({ outcome: "failed", exit_code: 3 });
    expect(await run({ command: "head -c 1", stdin })).toMatchObject({ outcome: "completed", stdout_tail: "x" });
    expect(await run({ command: "sleep 30", stdin, timeout_seconds: 1 })).toMatchObject({ outcome: "timed_out" });
  });

  it("have as much output as was asked for, up to the deployment's limit", async () => {
    const command = "head -c 11000000 /dev/zero | tr '\\0' x";
    const whole = await run({ command, tail_bytes: 10 * mebibyte });
    expect(String(whole["stdout_tail"])).toHaveLength(10 * mebibyte);
    expect(whole).toMatchObject({ outcome: "completed", stdout_dropped_bytes: 11_000_000 - 10 * mebibyte });
    expect(await run({ command, tail_bytes: 3 })).toMatchObject({ stdout_tail: "xxx" });
    expect(String((await run({ command }))["stdout_tail"])).toHaveLength(65_536);
    expect(await run({ command, tail_bytes: 10 * mebibyte + 1 })).toMatchObject({
      ...{ status: 400, error_type: "INVALID_REQUEST", context: { field: "tail_bytes" } },
    });
  });

  it("of another key's environment are not found", async () => {
    expect(await run({ command: "cat", stdin: "x" }, bob)).toMatchObject({ status: 404, error_type: "NOT_FOUND" });
    const executed = await bob.ask(`POST /api/sandbox/${sandbox}/exec`, { command: "cat", stdin: "x" });
    expect(executed.status).toBe(404);
  });
});
