import { createHash } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { connect } from "../../src/client.ts";
import { startKeyServer, type KeyServer, type TestKey } from "../helpers/key-server.ts";
import { isRequired } from "../helpers/require.ts";
import { testImages } from "../helpers/test-images.ts";

type Json = Readonly<Record<string, unknown>>;

const mebibyte = 2 ** 20;

/** The longest argument that Linux takes. */
const longest = "x".repeat(131_071);

describe.each(["docker", "podman"] as const)("commands over plain HTTP on %s", (engine) => {
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

  it("get what follows the request, more than a body may have and no text, as fast as they read it", async () => {
    const [piece, count] = [Buffer.alloc(mebibyte, 254), 24];
    const follow = async (path: string, command: string): Promise<Json> => {
      async function* body(): AsyncGenerator<Uint8Array> {
        yield Buffer.from(`${JSON.stringify({ command })}\n`);
        for (let left = count; left > 0; left -= 1) yield piece;
      }
      const response = await fetch(`${server.url}${path}`, {
        method: "POST",
        headers: { authorization: `Bearer ${ann.text}`, "content-type": "application/vnd.glovebox.input" },
        body: ReadableStream.from(body()),
        duplex: "half",
      });
      return { status: response.status, ...((await response.json()) as Json) };
    };
    const seen = createHash("sha256");
    for (let left = count; left > 0; left -= 1) seen.update(piece);
    const said = `${seen.digest("hex")}  -\n`;
    const commands = "/api/environments/mine/commands";
    expect(await follow(commands, "sha256sum")).toMatchObject({ status: 200, stdout_tail: said });
    expect(await follow(commands, "head -c 3 | wc -c")).toMatchObject({ status: 200, stdout_tail: "3\n" });
    expect(await follow(`/api/sandbox/${sandbox}/exec`, "sha256sum")).toMatchObject({ exit_code: 0, stdout: said });
    const mine = connect({ url: server.url, key: ann.text }).environments.get("mine");
    const stdin = ReadableStream.from([Buffer.of(0, 255), piece]);
    expect(await mine.run("wc -c", { stdin })).toMatchObject({ ok: true, stdoutTail: `${mebibyte + 2}\n` });
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

  it("get arguments as far as the kernel takes them, in every form", async () => {
    const exec = async (command: unknown): Promise<Json> =>
      (await (await ann.ask(`POST /api/sandbox/${sandbox}/exec`, { command })).json()) as Json;
    const count = ["python3", "-c", "import sys; print(len(sys.argv), sum(map(len, sys.argv[1:])))"];
    // Fifteen as long as can be are within what Linux gives to all together, sixteen are not.
    const fifteen = Array.from({ length: 15 }, () => longest);
    const many = Array.from({ length: 60_000 }, () => "ab");
    for (const [words, said] of [
      [fifteen, `16 ${15 * 131_071}\n`],
      [many, "60001 120000\n"],
    ] as const) {
      expect(await run({ command: [...count, ...words] })).toMatchObject({ status: 200, stdout_tail: said });
      expect(await exec([...count, ...words])).toMatchObject({ exit_code: 0, stdout: said });
    }
    const line = `echo ${"y".repeat(131_066)}`;
    expect(await run({ command: line, tail_bytes: 131_067 })).toMatchObject({ stdout_tail: `${line.slice(5)}\n` });
    const executed = await ann.ask("POST /api/sandbox/execute", {
      ...{ language: "python", code: count[2], args: fifteen, image: testImages.python },
    });
    expect(await executed.json()).toMatchObject({ outcome: "completed", stdout: `16 ${15 * 131_071}\n` });
  }, 60_000);

  it.each([
    ["an argument too long", ["true", `${longest}x`], "command[1]", "131071 bytes"],
    ["a shell line too long", `: ${longest}`, "command", "131071 bytes"],
    ["too much in all", Array.from({ length: 17 }, () => longest), "command", "2097152 bytes in all"],
    ["too many", Array.from({ length: 65_001 }, () => ""), "command", "65000"],
    ["a NUL", ["true", "a\0b"], "command[1]", "NUL"],
    ["no text", ["true", { toString: "x" }], "command", "a shell line"],
  ])("are refused by their field: %s", async (_, command, field, words) => {
    const refused = await run({ command });
    expect(refused).toMatchObject({ status: 400, error_type: "INVALID_REQUEST", context: { field } });
    expect(refused["message"]).toContain(words);
    expect(JSON.stringify(refused).length).toBeLessThan(1_000);
  });

  it("that the kernel takes for too long with their variables are refused as such, and the next one runs", async () => {
    // What Linux counts for the place of each argument is what is too much; then the text itself is.
    for (const [empty, large] of [
      [20_000, 100_000],
      [0, 130_000],
    ] as const) {
      const words = [
        ...Array.from({ length: empty === 0 ? 15 : 14 }, () => longest),
        ...Array.from({ length: empty }, () => ""),
      ];
      const refused = await run({
        command: ["true", ...words, "z".repeat(empty === 0 ? 110_000 : 1)],
        environment: { LARGE: "v".repeat(large) },
      });
      expect(refused).toMatchObject({
        ...{ status: 400, error_type: "INVALID_REQUEST", context: { field: "command", reason: "E2BIG" } },
        suggestion: expect.stringContaining("standard input"),
      });
    }
    expect(await run({ command: "echo on" })).toMatchObject({ status: 200, stdout_tail: "on\n" });
  });

  it("of another key's environment are not found", async () => {
    expect(await run({ command: "cat", stdin: "x" }, bob)).toMatchObject({ status: 404, error_type: "NOT_FOUND" });
    const executed = await bob.ask(`POST /api/sandbox/${sandbox}/exec`, { command: "cat", stdin: "x" });
    expect(executed.status).toBe(404);
  });
});
