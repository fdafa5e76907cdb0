import { createHash } from "node:crypto";
import net from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startKeyServer, type KeyServer, type TestKey } from "../helpers/key-server.ts";

type Json = Readonly<Record<string, unknown>>;

const mebibyte = 2 ** 20;
const inputType = "application/vnd.glovebox.input";
const execute = "/api/sandbox/execute";
/** Tells how much it read, and what. */
const digest = [
  "import hashlib, sys",
  "seen, size = hashlib.sha256(), 0",
  "while part := sys.stdin.buffer.read(65536): seen.update(part); size += len(part)",
  "print(size, seen.hexdigest())",
].join("\n");

describe("standard input that follows a request over HTTP", () => {
  let server: KeyServer;
  let ann: TestKey;
  beforeAll(async () => {
    server = await startKeyServer();
    ann = await server.addKey("ann");
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const send = async (
    body: AsyncIterable<Uint8Array> | string,
    { path = execute, headers = {} }: { readonly path?: string; readonly headers?: Record<string, string> } = {},
  ): Promise<Json> => {
    const response = await fetch(`${server.url}${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${ann.text}`, "content-type": inputType, ...headers },
      body: typeof body === "string" ? body : ReadableStream.from(body),
      duplex: "half",
    });
    return { status: response.status, ...((await response.json()) as Json) };
  };
  const line = (request: object): Buffer => Buffer.from(`${JSON.stringify(request)}\n`);
  const python = (code: string, more: object = {}): Buffer => line({ language: "python", code, ...more });
  async function* pieces(first: Uint8Array, count: number, piece: Uint8Array): AsyncGenerator<Uint8Array> {
    yield first;
    for (let left = count; left > 0; left -= 1) yield piece;
  }
  it("is of any size and any bytes", async () => {
    const piece = Buffer.alloc(mebibyte, 254);
    const seen = createHash("sha256");
    for (let left = 64; left > 0; left -= 1) seen.update(piece);
    expect(await send(pieces(python(digest, { timeout_seconds: 120 }), 64, piece))).toMatchObject({
      ...{ status: 200, outcome: "completed", stdout: `${64 * mebibyte} ${seen.digest("hex")}\n` },
    });
  }, 60_000);

  it("is not read further than its program reads, apart from what connections hold", async () => {
    let sent = 0;
    async function* counted(): AsyncGenerator<Uint8Array> {
      yield python("import sys, time; time.sleep(3); print(len(sys.stdin.buffer.read(5)))");
      for (; sent < 1024; sent += 1) yield Buffer.alloc(mebibyte);
    }
    expect(await send(counted())).toMatchObject({ status: 200, stdout: "5\n" });
    // The kernel's two buffers of a connection take some; what is dropped after the answer, up to 16.
    expect(sent).toBeLessThan(64);
  }, 60_000);

  it("arrives as it is sent, also within one piece with the request, and may be empty", async () => {
    expect(await send(pieces(Buffer.concat([python("print(input())"), Buffer.from("hi\n")]), 0, Buffer.of()))).toEqual(
      expect.objectContaining({ status: 200, stdout: "hi\n" }),
    );
    const empty = python("import sys; print(repr(sys.stdin.read()))");
    expect(await send(empty.toString())).toMatchObject({ status: 200, stdout: "''\n" });
    async function* slow(): AsyncGenerator<Uint8Array> {
      // The request in two parts, and a program that waits for a line.
      const request = python("print(input() + input())");
      yield request.subarray(0, 10);
      yield request.subarray(10);
      for (const text of ["a\n", "b\n"]) {
        await sleep(200);
        yield Buffer.from(text);
      }
    }
    expect(await send(slow())).toMatchObject({ status: 200, stdout: "ab\n" });
  });

  it("that never ends does not hold up a program that does not read it, nor its timeout", async () => {
    async function* endless(request: Uint8Array): AsyncGenerator<Uint8Array> {
      yield request;
      for (;;) yield Buffer.alloc(65_536);
    }
    expect(await send(endless(python("print(1)")))).toMatchObject({ status: 200, stdout: "1\n" });
    expect(await send(endless(python("while True: pass", { timeout_seconds: 1 })))).toMatchObject({
      ...{ status: 200, outcome: "timed_out" },
    });
    // And one whose sender falls silent.
    async function* silent(): AsyncGenerator<Uint8Array> {
      yield python("print(2)");
      await sleep(3_000);
    }
    const began = performance.now();
    expect(await send(silent())).toMatchObject({ status: 200, stdout: "2\n" });
    expect(performance.now() - began).toBeLessThan(20_000);
    expect(await send(python("print(3)").toString())).toMatchObject({ stdout: "3\n" });
  }, 60_000);

  it.each([
    ["without a line feed", `{"language":"python","code":"1"}`, {}, 400, "body", "line feed"],
    ["with no JSON before it", "hello\nworld", {}, 400, "body", "JSON"],
    ["with a line that is too long", `"${"x".repeat(17 * mebibyte)}"\n`, {}, 413, "body", "16 MiB"],
    ["with very many values", `[${"{},".repeat(120_000)}{}]\n`, {}, 400, "body", "100000 values"],
    ["with stdin as a field", `{"language":"python","code":"1","stdin":"x"}\n`, {}, 400, "stdin", "left out"],
    ["with a key for retries", python("1").toString(), { "idempotency-key": "a" }, 400, "Idempotency-Key", "left out"],
    ["with respond-async", python("1").toString(), { prefer: "respond-async" }, 400, "Prefer", "left out"],
  ])("is refused %s", async (_, body, headers, status, field, words) => {
    const refused = await send(body, { headers });
    expect(refused).toMatchObject({ status, error_type: "INVALID_REQUEST", context: { field } });
    expect(refused["message"]).toContain(words);
  });

  it("is refused where nothing reads it, and before its rest has come", async () => {
    const at = async (path: string): Promise<unknown> => (await send("{}\nx", { path }))["status"];
    expect(await at("/api/sessions")).toBe(415);
    expect(await at("/api/environments")).toBe(415);
    // A line of JSON that is no request, and a body that goes on.
    expect(await send(pieces(python("1", { nonsense: 1 }), 8, Buffer.alloc(mebibyte)))).toMatchObject({ status: 400 });
    // Nobody's.
    const nobody = await send("{}\n", { headers: { authorization: "Bearer wrong" } });
    expect(nobody).toMatchObject({ status: 401 });
  });

  it("of a silent sender does not hold back the error of a program whose sandbox goes", async () => {
    const { session_id: id } = (await (await ann.ask("POST /api/sessions", {})).json()) as Json;
    await (await ann.ask(`POST /api/sessions/${String(id)}/runs`, { language: "python", code: "1" })).json();
    const { sandbox_id: sandbox } = (await (await ann.ask(`GET /api/sessions/${String(id)}`)).json()) as Json;
    const isRead = Promise.withResolvers<void>();
    async function* silent(): AsyncGenerator<Uint8Array> {
      yield line({ command: "cat" });
      isRead.resolve();
      await sleep(60_000, undefined, { ref: false });
    }
    const refused = send(silent(), { path: `/api/sandbox/${String(sandbox)}/exec` });
    await isRead.promise;
    await sleep(1_000);
    await (await ann.ask(`DELETE /api/sessions/${String(id)}`)).json();
    expect(await Promise.race([refused, sleep(15_000, "no answer")])).toMatchObject({ error_type: "SANDBOX_LOST" });
  }, 30_000);

  it("of a client that goes ends with its program", async () => {
    const { hostname, port } = new URL(server.url);
    const socket = net.connect(Number(port), hostname);
    const head = [
      `POST ${execute} HTTP/1.1`,
      `Host: ${hostname}:${port}`,
      `Authorization: Bearer ${ann.text}`,
      `Content-Type: ${inputType}`,
      "Transfer-Encoding: chunked",
    ].join("\r\n");
    const request = python("import sys; sys.stdin.read()", { name: "left" });
    socket.write(`${head}\r\n\r\n${request.length.toString(16)}\r\n${request.toString()}\r\n`);
    const running = async (): Promise<string> => (await ann.ask("GET /api/sandbox")).text();
    await expect.poll(running, { timeout: 10_000 }).toContain('"left"');
    socket.destroy();
    await expect.poll(running, { timeout: 10_000 }).not.toContain('"state":"running"');
  }, 30_000);
});
