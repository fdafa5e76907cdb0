import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { RawMcp, type RawMessage } from "../helpers/raw-mcp.ts";

/** One connection for everything bad: it must survive all of it. */
let server: RawMcp;
beforeAll(async () => {
  server = new RawMcp();
  await server.initialize();
});
afterEach(async () => {
  const { result } = await server.request("alive", "ping");
  if (result === undefined) throw new Error("The connection did not survive.");
  if (server.messages.length > 0) throw new Error(`Nobody asked for ${JSON.stringify(server.messages)}.`);
});
afterAll(async () => {
  server.child.stdin.end();
  const exitCode = await server.ended;
  if (exitCode !== 0) throw new Error(`It ended with ${exitCode}.`);
});

const call = (id: number, params: unknown): Promise<RawMessage> => server.request(id, "tools/call", params);

describe("input that is not a message", () => {
  it.each<[string, string, number, number | string | null]>([
    ["malformed JSON", "{bad", -32700, null],
    ["a NUL byte", '{"jsonrpc":"2.0",\0"id":1,"method":"ping"}', -32700, null],
    ["a batch", '[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32600, null],
    ["a batch of very many", `[${'{"jsonrpc":"2.0","id":1,"method":"ping"},'.repeat(100_000)}{}]`, -32600, null],
    [
      "very many values",
      `{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":[${"{},".repeat(300_000)}{}]}}`,
      -32600,
      null,
    ],
    ["very deep values", `{"jsonrpc":"2.0","id":1,"params":${"[".repeat(1_000_000)}`, -32600, null],
    ["no version", '{"id":5,"method":"ping"}', -32600, 5],
    ["no method", '{"jsonrpc":"2.0","id":5}', -32600, 5],
    ["params that are a list", '{"jsonrpc":"2.0","id":5,"method":"tools/call","params":[]}', -32602, 5],
  ])("is answered with its code: %s", async (_, line, code, id) => {
    server.write(`${line}\n`);
    const { error } = await server.answer((message) => message.error?.code === code && message.id === id);
    expect(error?.message.length).toBeGreaterThan(20);
  });

  it("is answered where it is not UTF-8", async () => {
    server.write(Buffer.from([0x22, 0xff, 0xfe, 0x22, 0x0a]));
    expect(await server.answer(({ id }) => id === null)).toMatchObject({ error: { code: -32700 } });
  });
});

describe("a method that is not served", () => {
  it.each(["watch-commit", "note-append", "up", "down", "prompts/list", "tasks/list", "server/discover", "", "x/y"])(
    "is told of with UNIMPLEMENTED: %s",
    async (method) => {
      expect(await server.request(1, method, {})).toMatchObject({
        error: { code: -32601, data: { code: "Unimplemented", error_type: "UNIMPLEMENTED" } },
      });
    },
  );
});

describe("a tool call", () => {
  it.each(["watch-commit", "up", "Execute_Code", "", "../execute_code", "__proto__"])(
    "of a tool that is not there: %s",
    async (name) => {
      expect(await call(1, { name, arguments: {} })).toMatchObject({
        error: { code: -32602, data: { code: "Unimplemented", error_type: "UNIMPLEMENTED" } },
      });
    },
  );

  it("is told every problem by its field", async () => {
    const given = { language: "cobol", cod: "1", limits: { cpus: "two", gpus: 1 }, args: ["a", 2] };
    const { result } = await call(1, { name: "execute_code", arguments: given });
    expect(result).toMatchObject({
      isError: true,
      content: [
        { type: "text", text: expect.stringMatching(/^INVALID_REQUEST: .*language: .*expected.*"python".*\n.+/) },
      ],
      structuredContent: { error: { error_type: "INVALID_REQUEST", suggestion: expect.any(String) } },
    });
    const structured = result?.["structuredContent"] as
      | { error: { context: { problems: { field: string; message: string }[] } } }
      | undefined;
    const problems = structured?.error.context.problems ?? [];
    for (const { message } of problems) expect(message).toMatch(/expected|unknown field/);
    expect(problems.map(({ field }) => field).toSorted()).toEqual(
      ["args[1]", "cod", "code", "language", "limits.cpus", "limits.gpus"].toSorted(),
    );
  });

  it.each([
    [{}, /params\.name/],
    [{ name: 5 }, /params\.name/],
    [{ name: "execute_code", arguments: [] }, /params\.arguments/],
    [{ name: "execute_code", arguments: "x" }, /params\.arguments/],
  ])("that is none in form is refused by the protocol: %j", async (params, words) => {
    const { error } = await call(1, params);
    expect(error).toMatchObject({ code: -32602, data: { error_type: "INVALID_REQUEST" } });
    expect(error?.message).toMatch(words);
  });

  it.each([
    [undefined, /language.*code/],
    [{ language: "python" }, /code: .*expected a string/],
    [{ run_id: "run-1", code: "1" }, /code: unknown field/],
    [{ run_id: 1 }, /run_id: .*expected a string/],
  ])("whose arguments do not fit is answered by the tool, for the model to see: %j", async (given, words) => {
    const params = given === undefined ? {} : { arguments: given };
    const { error, result } = await call(1, { name: "execute_code", ...params });
    expect(error).toBeUndefined();
    expect(result).toMatchObject({
      isError: true,
      content: [{ type: "text", text: expect.stringMatching(words) }],
      structuredContent: { error: { error_type: "INVALID_REQUEST", message: expect.stringMatching(words) } },
    });
  });

  it("of a tool in another profile is answered with where it is", async () => {
    const { error } = await call(1, { name: "run_tests", arguments: {} });
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining("--tools test") });
  });

  it("that is wrong is answered with a right one, and what can mean one thing only is understood", async () => {
    const wrong = await call(1, { name: "execute_code", arguments: { langage: "py", code: "print(1)" } });
    const form = /For langage write language\. .*\{"language":"python","code":"print\(6 \* 7\)"\}/;
    expect(wrong.result?.["structuredContent"]).toMatchObject({ error: { suggestion: expect.stringMatching(form) } });
    const loose = { language: "py", code: "", stdin: null, session_id: "", timeout_seconds: "1e9", args: "a" };
    const { result } = await call(1, { name: "execute_code", arguments: loose });
    expect(result).toMatchObject({
      isError: true,
      content: [{ text: expect.stringMatching(/timeout_seconds: .*number/) }],
    });
    expect(JSON.stringify(result)).not.toMatch(/stdin|args|session_id/);
  });

  it("of 50 MB is refused by its field", async () => {
    const { result } = await call(1, {
      name: "execute_code",
      arguments: { language: "python", code: "#".repeat(15_000_000) },
    });
    expect(result).toMatchObject({ isError: true, structuredContent: { error: { error_type: "INVALID_REQUEST" } } });
  });

  it("with too many of something is refused by their number", async () => {
    const files = Array.from({ length: 40_000 }, () => ({}));
    const { result } = await call(1, {
      name: "execute_code",
      arguments: { language: "python", code: "1", context_files: files },
    });
    expect(result).toMatchObject({
      isError: true,
      structuredContent: { error: { message: expect.stringMatching(/context_files: expected at most 256 items/) } },
    });
    expect(JSON.stringify(result).length).toBeLessThan(4000);
  });

  it("with NUL in its code is refused by its field", async () => {
    const { result } = await call(1, { name: "execute_code", arguments: { language: "python", code: "print(1)\0" } });
    expect(result).toMatchObject({ isError: true, structuredContent: { error: { error_type: "INVALID_REQUEST" } } });
  });
});

describe("a message", () => {
  it("that is longer than any may be is refused, and its rest is skipped", async () => {
    server.write(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"`);
    const piece = Buffer.alloc(1_000_000, "a");
    for (let written = 0; written < 18; written += 1) server.write(piece);
    server.write('"}}\n');
    expect(await server.answer(({ id }) => id === null)).toMatchObject({
      error: { code: -32600, message: expect.stringContaining("16 MiB") },
    });
  });

  it("whose id is in use is refused, and the first is answered", async () => {
    const params = { name: "execute_code", arguments: { run_id: "x" } };
    const message = { jsonrpc: "2.0", id: 9, method: "tools/call", params };
    server.write(`${JSON.stringify(message)}\n${JSON.stringify(message)}\n`);
    expect(await server.answer(({ error }) => error !== undefined)).toMatchObject({ id: 9, error: { code: -32600 } });
    expect(await server.answer(({ result }) => result !== undefined)).toMatchObject({ id: 9 });
  });

  it("may come in pieces, with others, and with empty lines between", async () => {
    server.write('\n\r\n{"jsonrpc":"2.0","id":1,"met');
    await new Promise((resolve) => setTimeout(resolve, 50));
    server.write('hod":"ping"}\r\n{"jsonrpc":"2.0","id":2,"method":"ping"}\n');
    expect(await server.answer(({ id }) => id === 1)).toMatchObject({ result: {} });
    expect(await server.answer(({ id }) => id === 2)).toMatchObject({ result: {} });
  });

  it("to no request changes nothing", async () => {
    server.send(
      { jsonrpc: "2.0", id: 77, result: {} },
      { jsonrpc: "2.0", method: "notifications/unheard" },
      { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "none" } },
      { jsonrpc: "2.0", method: "notifications/cancelled" },
    );
    expect(await server.request(1, "ping")).toMatchObject({ result: {} });
  });

  it("that breaks off gets an error, and earlier requests are answered", async () => {
    const other = new RawMcp();
    other.send({ jsonrpc: "2.0", id: 1, method: "tools/list" });
    other.write('{"jsonrpc":"2.0","id":2,"meth');
    other.child.stdin.end();
    expect(await other.ended).toBe(0);
    expect(new Map(other.messages.map(({ id, error }) => [id, error?.code]))).toEqual(
      new Map([
        [1, undefined],
        [null, -32700],
      ]),
    );
  });
});
