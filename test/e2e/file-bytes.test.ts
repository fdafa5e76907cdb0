import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request as httpRequest, type ClientRequest } from "node:http";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startKeyServer, type KeyServer, type TestKey } from "../helpers/key-server.ts";
import { isRequired } from "../helpers/require.ts";
import { sessionImages } from "../helpers/test-images.ts";
import { until } from "../helpers/until.ts";

type Json = Readonly<Record<string, unknown>>;

const bytes = { accept: "application/octet-stream" };
const mebibyte = 2 ** 20;

const cases = ["docker", "local"] as const;

describe.each(cases)("files as bytes over HTTP on %s", (engine) => {
  let server: KeyServer;
  let ann: TestKey;
  let bob: TestKey;
  let session = "";
  let outside = "";
  beforeAll(async () => {
    if (!isRequired(engine)) return;
    outside = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-"));
    writeFileSync(path.join(outside, "secret"), "of the host alone");
    server = await startKeyServer(["--engine", engine], { GLOVEBOX_IMAGE_SESSION: sessionImages.session });
    [ann, bob] = [await server.addKey("ann"), await server.addKey("bob")];
    session = await openSession({ disk_mb: 128 });
  });
  beforeEach((context) => {
    if (!isRequired(engine)) context.skip(`GLOVEBOX_TEST_REQUIRE does not list ${engine}`);
  });
  afterAll(async () => {
    if (!isRequired(engine)) return;
    await server[Symbol.asyncDispose]();
    rmSync(outside, { recursive: true });
  });

  const openSession = async (limits: Json): Promise<string> => {
    const opened = await ann.ask("POST /api/sessions", { limits });
    return String(((await opened.json()) as Json)["session_id"]);
  };
  const sandboxOf = async (id: string): Promise<string> =>
    String(((await (await ann.ask(`GET /api/sessions/${id}`)).json()) as Json)["sandbox_id"]);
  const at = (name: string): string => `/api/sessions/${session}/files/${encodeURIComponent(name)}`;
  const put = (
    route: string,
    body: Uint8Array | ReadableStream<Uint8Array>,
    { key = ann, type = "application/octet-stream" }: { readonly key?: TestKey; readonly type?: string } = {},
  ): Promise<Response> =>
    fetch(`${server.url}${route}`, {
      method: "PUT",
      headers: { authorization: `Bearer ${key.text}`, "content-type": type },
      body: body as NonNullable<RequestInit["body"]>,
      duplex: "half",
    });
  const contentOf = async (name: string, headers: Readonly<Record<string, string>> = {}): Promise<string> => {
    const response = await ann.ask(`GET ${at(name)}`, undefined, { ...bytes, ...headers });
    return Buffer.from(await response.arrayBuffer()).toString("latin1");
  };
  const refusal = async (response: Response): Promise<Json> => {
    const { error_type: type, context, message } = (await response.json()) as Json;
    return { status: response.status, type, context, message };
  };
  /** An upload whose sender decides when it goes on. */
  const begin = (route: string, headers: Readonly<Record<string, string | number>> = {}): ClientRequest => {
    const sent = httpRequest(`${server.url}${route}`, {
      method: "PUT",
      headers: { authorization: `Bearer ${ann.text}`, ...headers },
    });
    sent.on("error", () => undefined);
    return sent;
  };

  it("go up and down as they are, larger than any body in JSON may be, with and without a known length", async () => {
    const content = randomBytes(24 * mebibyte);
    const sha256 = createHash("sha256").update(content).digest("hex");
    for (const body of [content, ReadableStream.from([content.subarray(0, 5), content.subarray(5)])]) {
      const wrote = await put(at("deep/in/big.bin"), body);
      expect(await wrote.json()).toMatchObject({
        ...{ session_id: session, path: "deep/in/big.bin", size_bytes: content.length, warnings: [] },
      });
      expect(wrote.status).toBe(200);
      const read = await ann.ask(`GET ${at("deep/in/big.bin")}`, undefined, bytes);
      expect(Object.fromEntries(read.headers)).toMatchObject({
        ...{ "content-type": "application/octet-stream", "content-length": String(content.length) },
        ...{ "accept-ranges": "bytes", "content-disposition": "attachment", "x-content-type-options": "nosniff" },
      });
      const hash = createHash("sha256");
      for await (const chunk of read.body!) hash.update(chunk as Uint8Array);
      expect(hash.digest("hex")).toBe(sha256);
    }
    // Without the name of the type it is the answer in JSON, as before.
    const asJson = await ann.ask(`GET ${at("deep/in/big.bin")}?limit=3`);
    expect(await asJson.json()).toMatchObject({ size_bytes: content.length, truncated: true });
  }, 120_000);

  it("have parts, by Range and by the fields of read_file", async () => {
    await put(at("abc"), Buffer.from("0123456789"));
    const part = async (range: string): Promise<readonly unknown[]> => {
      const response = await ann.ask(`GET ${at("abc")}`, undefined, { ...bytes, range });
      return [response.status, response.headers.get("content-range"), await response.text()];
    };
    expect(await part("bytes=2-4")).toEqual([206, "bytes 2-4/10", "234"]);
    expect(await part("bytes=7-")).toEqual([206, "bytes 7-9/10", "789"]);
    expect(await part("bytes=7-99")).toEqual([206, "bytes 7-9/10", "789"]);
    expect(await part("bytes=-3")).toEqual([206, "bytes 7-9/10", "789"]);
    expect(await part("bytes=-99")).toEqual([206, "bytes 0-9/10", "0123456789"]);
    expect(await part("lines=1-2")).toEqual([200, null, "0123456789"]);
    expect(await (await ann.ask(`GET ${at("abc")}?offset=3&limit=2`, undefined, bytes)).text()).toBe("34");
    for (const range of ["bytes=10-", "bytes=99-100", "bytes=5-2", "bytes=0-1,3-4", "bytes=x"]) {
      const response = await ann.ask(`GET ${at("abc")}`, undefined, { ...bytes, range });
      expect(await refusal(response)).toMatchObject({ status: 416, type: "INVALID_REQUEST" });
    }
    const beyond = await ann.ask(`GET ${at("abc")}`, undefined, { ...bytes, range: "bytes=10-" });
    expect(beyond.headers.get("content-range")).toBe("bytes */10");
    await put(at("empty"), new Uint8Array(0));
    expect(await contentOf("empty")).toBe("");
    expect(await contentOf("empty", { range: "bytes=-5" })).toBe("");
  });

  it("stay as they were when an upload is cut off, whatever its length was to be", async () => {
    await put(at("kept"), Buffer.from("old"));
    for (const headers of [{ "content-length": 1_000_000 }, { "transfer-encoding": "chunked" }]) {
      const sent = begin(at("kept"), headers);
      sent.write(Buffer.alloc(200_000, "n"));
      await new Promise((resolve) => setTimeout(resolve, 300));
      sent.destroy();
      await until(() => sent.closed);
    }
    // In a session one call comes after another: both cut ones have ended.
    expect(await contentOf("kept")).toBe("old");
    const listed = await ann.ask(`GET /api/sessions/${session}/files`);
    const { files } = (await listed.json()) as { files: readonly { path: string }[] };
    expect(files.map((file) => file.path).filter((name) => name.startsWith("."))).toEqual([]);
  });

  it("that do not end are refused at the disk's limit, and leave the old file and the server as they were", async () => {
    const small = await openSession({ disk_mb: 32 });
    const kept = `/api/sessions/${small}/files/kept`;
    await put(kept, Buffer.from("old"));
    const sent = begin(kept, { "transfer-encoding": "chunked" });
    const answered = answerTo(sent);
    // Less than 16 MiB too much, and then it is neither ended nor closed.
    for (let count = 0; count < 40; count += 1) {
      if (!sent.write(Buffer.alloc(mebibyte))) await Promise.race([until(() => !sent.writableNeedDrain), answered]);
    }
    const { status, body } = await answered;
    sent.destroy();
    expect([status, body]).toEqual([403, expect.objectContaining({ error_type: "POLICY_DENIED" })]);
    expect(await (await ann.ask(`GET ${kept}`, undefined, bytes)).text()).toBe("old");
    await ann.ask(`DELETE /api/sessions/${small}`);
  }, 60_000);

  it("slow their reader down instead of filling the server's memory", async () => {
    const large = await openSession({ disk_mb: 256, memory_mb: 1024 });
    const wrote = await put(`/api/sessions/${large}/files/large`, Buffer.alloc(96 * mebibyte, 1));
    expect(await wrote.json()).toMatchObject({ size_bytes: 96 * mebibyte });
    const inside = `/api/sandbox/${await sandboxOf(large)}/files/${encodeURIComponent("/work/large")}`;
    const before = residentBytes(server.pid);
    const giveUp = new AbortController();
    const headers = { authorization: `Bearer ${ann.text}` };
    const unread = await Promise.all(
      Array.from({ length: 4 }, () => fetch(`${server.url}${inside}`, { headers, signal: giveUp.signal })),
    );
    expect(unread.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    // The four would have 384 MiB.
    expect(residentBytes(server.pid) - before).toBeLessThan(96 * mebibyte);
    giveUp.abort();
    await ann.ask(`DELETE /api/sessions/${large}`);
  }, 60_000);

  it("are described beside the answers in JSON", async () => {
    const { paths } = (await (await fetch(`${server.url}/openapi.json`)).json()) as {
      paths: Record<
        string,
        Record<string, { requestBody?: { content: Json }; responses: Record<string, { content: Json }> }>
      >;
    };
    const name = "/api/sessions/{session_id}/files/{path}";
    expect(Object.keys(paths[name]?.["get"]?.responses["200"]?.content ?? {})).toEqual([
      ...["application/json", "application/octet-stream"],
    ]);
    expect(paths[name]?.["get"]?.responses).toHaveProperty("206");
    expect(Object.keys(paths[name]?.["put"]?.requestBody?.content ?? {})).toEqual(["application/octet-stream"]);
    const ofSandbox = paths["/api/sandbox/{sandbox_id}/files/{path}"];
    expect(Object.keys(ofSandbox?.["get"]?.responses["200"]?.content ?? {})).toEqual(["application/octet-stream"]);
  });

  it("of a live sandbox are reached by its id too, by absolute paths", async () => {
    await put(at("first"), Buffer.from("1"));
    const sandboxId = await sandboxOf(session);
    const inside = `/api/sandbox/${sandboxId}/files/${encodeURIComponent("/work/by-id")}`;
    const wrote = await put(inside, Buffer.from("by its id"));
    expect(await wrote.json()).toMatchObject({ sandbox_id: sandboxId, path: "/work/by-id", size_bytes: 9 });
    expect(await contentOf("by-id")).toBe("by its id");
    expect(await (await ann.ask(`GET ${inside}`)).text()).toBe("by its id");
    const relative = await put(`/api/sandbox/${sandboxId}/files/by-id`, Buffer.from("x"));
    expect(await refusal(relative)).toMatchObject({ status: 400, context: { field: "path", code: "INVALID_PATH" } });
  });

  it("of another key are not found, neither to read nor to write, by any id", async () => {
    await put(at("kept"), Buffer.from("old"));
    const inside = `/api/sandbox/${await sandboxOf(session)}/files/${encodeURIComponent("/work/kept")}`;
    for (const route of [at("kept"), inside]) {
      const read = await bob.ask(`GET ${route}`, undefined, bytes);
      expect(await refusal(read)).toMatchObject({ status: 404, type: "NOT_FOUND" });
      expect(await refusal(await put(route, Buffer.from("bob's"), { key: bob }))).toMatchObject({ status: 404 });
    }
    expect(await contentOf("kept")).toBe("old");
    const none = await fetch(`${server.url}${at("kept")}`, { headers: bytes });
    expect(none.status).toBe(401);
  });

  it("are the sandbox's own, wherever a path or a link leads", async () => {
    const host = path.join(outside, "secret");
    for (const name of [host, `../../../../../../${host}`, `/proc/1/root${host}`]) {
      const read = await ann.ask(`GET ${at(name)}`, undefined, bytes);
      expect([403, 404]).toContain(read.status);
      expect(await read.text()).not.toContain("of the host alone");
    }
    const link = { language: "python", code: `import os; os.symlink(${JSON.stringify(host)}, "/work/link")` };
    expect((await ann.ask(`POST /api/sessions/${session}/runs`, link)).status).toBe(200);
    expect((await ann.ask(`GET ${at("link")}`, undefined, bytes)).status).toBe(404);
  });

  it("say by a name what is wrong with a path", async () => {
    const code = [
      "import os, socket",
      "os.makedirs('/work/folder', exist_ok=True)",
      "open('/work/plain', 'w').close()",
      "os.mkfifo('/work/fifo')",
      "os.symlink('circle', '/work/circle')",
      "open('/work/closed', 'w').close()",
      "os.chmod('/work/closed', 0)",
    ];
    const made = await ann.ask(`POST /api/sessions/${session}/runs`, { language: "python", code: code.join("\n") });
    expect(await made.json()).toMatchObject({ outcome: "completed" });
    const problems = [
      ["folder", 400, "IS_A_DIRECTORY"],
      ["nothing", 404, "FILE_NOT_FOUND"],
      ["plain/below", 400, "INVALID_PATH"],
      ["circle", 400, "INVALID_PATH"],
      ["n".repeat(300), 400, "INVALID_PATH"],
      ["fifo", 400, "NOT_A_FILE"],
      ["closed", 403, "PERMISSION_DENIED"],
    ] as const;
    for (const [name, status, named] of problems) {
      const read = await refusal(await ann.ask(`GET ${at(name)}`, undefined, bytes));
      expect(read, name).toMatchObject({ status, context: { code: named } });
    }
    const text = await refusal(await ann.ask(`GET ${at("folder")}`));
    expect(text).toMatchObject({ context: { code: "IS_A_DIRECTORY" } });
    const written = await refusal(await put(at("folder"), Buffer.from("a")));
    expect(written).toMatchObject({ status: 400, context: { code: "IS_A_DIRECTORY" } });
    const full = await refusal(await put(at("large"), Buffer.alloc(200 * mebibyte)));
    expect(full).toMatchObject({ status: 403, context: { code: "NO_SPACE" } });
  });

  it("name what is wrong with a request", async () => {
    expect(await refusal(await put(at("x"), Buffer.from("{}"), { type: "application/json" }))).toMatchObject({
      ...{ status: 415, context: { field: "Content-Type" } },
    });
    expect(await refusal(await put(`${at("x")}?mode=1`, Buffer.from("a")))).toMatchObject({
      ...{ status: 400, context: { field: "mode" } },
    });
    expect(await refusal(await ann.ask(`GET ${at("x")}?mode=1`, undefined, bytes))).toMatchObject({
      ...{ status: 400, context: { field: "mode" } },
    });
    const bare = begin(at("x"));
    bare.removeHeader("content-length");
    bare.useChunkedEncodingByDefault = false;
    bare.end();
    expect((await answerTo(bare)).status).toBe(411);
    expect(await refusal(await put(at("."), Buffer.from("a")))).toMatchObject({ status: expect.toSatisfy(isRefused) });
    expect(await refusal(await ann.ask(`GET ${at("missing")}`, undefined, bytes))).toMatchObject({ status: 404 });
    await until(async () => (await ann.ask(`GET ${at("x")}`, undefined, bytes)).status === 404);
  });
});

/** The answer, even if the connection ends with it. */
function answerTo(sent: ClientRequest): Promise<{ readonly status: number; readonly body: unknown }> {
  return new Promise((resolve, reject) => {
    sent.once("error", reject);
    sent.once("response", (response) => {
      let text = "";
      response.on("data", (chunk: Buffer) => (text += chunk.toString()));
      response.once("end", () => resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) }));
    });
  });
}

function residentBytes(pid: number): number {
  const [, kibibytes] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kibibytes) * 1024;
}

function isRefused(status: number): boolean {
  return status >= 400 && status < 500;
}
