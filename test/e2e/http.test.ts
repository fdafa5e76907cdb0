import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startHttpServer, type HttpServerProcess } from "../helpers/http-server.ts";
import { revisions } from "../helpers/mcp-client.ts";
import { useOwnSandboxes } from "../helpers/own-sandboxes.ts";
import { sleepersFor, uniqueSeconds } from "../helpers/processes.ts";
import { until } from "../helpers/until.ts";

const engine = "local";
const sandboxes = useOwnSandboxes();
let server: HttpServerProcess;
beforeAll(async () => (server = await startHttpServer(["--engine", engine], sandboxes.environment())));
afterAll(() => server[Symbol.asyncDispose]());

type Json = Record<string, unknown>;
const json = async (response: Response): Promise<Json> => (await response.json()) as Json;
const python = (code: string, more: Json = {}): Json => ({ language: "python", code, ...more });
const sleeper = (seconds: string): Json =>
  python(`import subprocess; print('up', flush=True); subprocess.run(['sleep', '${seconds}'])`, {
    timeout_seconds: 300,
  });
const execute = "POST /api/sandbox/execute";
const ndjson = { accept: "application/x-ndjson" };

/** Events of a stream as they arrive. */
async function* eventsOf(response: Response): AsyncGenerator<Json> {
  let rest = "";
  for await (const text of response.body!.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield JSON.parse(line) as Json;
  }
  expect(rest).toBe("");
}

describe("a run over HTTP", () => {
  it("is answered when it has ended", async () => {
    const response = await server.ask(execute, python("import sys; print(6 * 7); sys.exit(3)"));
    expect(response.status).toBe(200);
    expect(await json(response)).toMatchObject({ outcome: "failed", exit_code: 3, stdout: "42\n", engine });
  });

  it("streams its events, the id first, each as it happens, and its result last", async () => {
    const response = await server.ask(execute, python("print('ß'); input()\nprint('two')", { stdin: "x\n" }), ndjson);
    expect(response.headers.get("content-type")).toMatch(/^application\/x-ndjson/);
    const events: Json[] = [];
    for await (const event of eventsOf(response)) events.push(event);
    const { sandbox_id: id } = events[0] ?? {};
    expect(events[0]).toEqual({ event: "sandbox", sandbox_id: expect.stringMatching(/^sbx-/) });
    expect(events.filter(({ event }) => event === "sandbox")).toHaveLength(1);
    const text = events.map((event) => (event["event"] === "output" ? event["text"] : "")).join("");
    expect(text).toBe("ß\ntwo\n");
    expect(events.at(-1)).toMatchObject({ event: "result", result: { sandbox_id: id, outcome: "completed" } });
  });

  it("makes few events of many single characters, and loses none", async () => {
    const code = "import os, time\nfor _ in range(2_000): os.write(1, b'x'), time.sleep(0.0005)\nos.write(2, b'end')";
    const response = await server.ask(execute, python(code), ndjson);
    const texts: string[] = [];
    let last: Json = {};
    for await (const event of eventsOf(response)) {
      if (event["event"] === "output" && event["stream"] === "stdout") texts.push(String(event["text"]));
      last = event;
    }
    expect(last).toMatchObject({ event: "result", result: { stderr: "end" } });
    expect(texts.join("")).toBe("x".repeat(2_000));
    // A piece for each 50 ms or 8 KiB.
    expect(texts.length).toBeLessThan(200);
  });

  it("shows output while the program still runs, as server-sent events too", async () => {
    const seconds = uniqueSeconds();
    const giveUp = new AbortController();
    const response = await server.ask(execute, sleeper(seconds), { accept: "text/event-stream" }, giveUp.signal);
    let text = "";
    for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
      text += piece;
      if (text.includes("up")) break;
    }
    expect(text).toMatch(/^event: sandbox\ndata: \{"event":"sandbox","sandbox_id":"sbx-\w+"\}\n\nevent: output\n/);
    giveUp.abort();
    await until(() => sleepersFor(seconds).length === 0);
  });

  it("ends when its client goes away", async () => {
    const seconds = uniqueSeconds();
    const giveUp = new AbortController();
    const answer = server.ask(execute, sleeper(seconds), {}, giveUp.signal);
    await until(() => sleepersFor(seconds).length > 0);
    giveUp.abort();
    await expect(answer).rejects.toThrow(/abort/i);
    await until(() => sleepersFor(seconds).length === 0);
    await until(async () => (await json(await server.ask("GET /api/sandbox")))["sandboxes"]?.toString() === "");
  });

  it("refuses at once, with its own status, what cannot be run, in every form", async () => {
    for (const headers of [{}, ndjson, { accept: "text/event-stream" }]) {
      const response = await server.ask(execute, python("1", { timeout_seconds: 1e6 }), headers);
      expect(response.status).toBe(400);
      expect(await json(response)).toMatchObject({ error_type: "INVALID_REQUEST" });
    }
  });
});

describe("a run that is answered later", () => {
  const later = { prefer: "respond-async" };

  it("has its id at once, can be watched and listed, and gives its result", async () => {
    const labels = { job: "later-1" };
    const code = "import time; print('up', flush=True); time.sleep(0.5)";
    const response = await server.ask(execute, python(code, { labels }), later);
    expect(response.status).toBe(202);
    const { id, sandbox_id: sandboxId, status_url: statusUrl } = await json(response);
    expect([sandboxId, statusUrl]).toEqual([id, `/api/sandbox/${String(id)}`]);
    const listed = await json(await server.ask("GET /api/sandbox?label=job=later-1"));
    expect(listed).toMatchObject({ sandboxes: [{ id, operation: "execute_code", labels }] });
    expect(await json(await server.ask("GET /api/sandbox?label=job=other"))).toEqual({ sandboxes: [] });
    await until(async () => (await json(await server.ask(`GET ${String(statusUrl)}`)))["state"] === "ended");
    const ended = await json(await server.ask(`GET ${String(statusUrl)}`));
    expect(ended).toMatchObject({
      id,
      state: "ended",
      stdout_tail: "up\n",
      result: { outcome: "completed", sandbox_id: id },
    });
  });

  it("says what it ran, and where, also when its sandbox is gone", async () => {
    const about = { name: "report", work: "python: print('done')", kind: "execute", engine: "local", image: null };
    const response = await server.ask(execute, python("# a report\nprint('done')", { name: "report" }), later);
    const { id } = await json(response);
    const stateOf = async (): Promise<Json> => json(await server.ask(`GET /api/sandbox/${String(id)}`));
    await until(async () => (await stateOf())["state"] === "ended");
    await until(async () => (await json(await server.ask("GET /api/sandbox")))["sandboxes"]?.toString() === "");
    expect(await stateOf()).toMatchObject({ id, state: "ended", result: { stdout: "done\n" }, ...about });
  });

  it("is ended and forgotten by DELETE", async () => {
    const seconds = uniqueSeconds();
    const { id } = await json(await server.ask(execute, sleeper(seconds), later));
    await until(() => sleepersFor(seconds).length > 0);
    expect(await json(await server.ask(`DELETE /api/sandbox/${String(id)}`))).toEqual({ id, removed: true });
    expect(sleepersFor(seconds)).toEqual([]);
    for (const route of ["GET", "DELETE"]) {
      expect((await server.ask(`${route} /api/sandbox/${String(id)}`)).status).toBe(404);
    }
  });

  it("is ended by DELETE and keeps its result where that is asked for", async () => {
    const seconds = uniqueSeconds();
    const { id } = await json(await server.ask(execute, sleeper(seconds), later));
    await until(() => sleepersFor(seconds).length > 0);
    expect((await server.ask(`DELETE /api/sandbox/${String(id)}?forget=no`)).status).toBe(400);
    expect((await server.ask(`DELETE /api/sandbox/${String(id)}?forget=false`)).status).toBe(200);
    expect(sleepersFor(seconds)).toEqual([]);
    const state = await json(await server.ask(`GET /api/sandbox/${String(id)}`));
    expect(state).toMatchObject({ state: "ended", result: { outcome: "cancelled" } });
  });
});

describe("a long answer", () => {
  // What JSON escapes, and characters of two, three and four bytes, which no piece of the answer may cut.
  const line = '"quoted" \\ \u0001 é 漢 🙂\n';
  const printed = line.repeat(40_000);
  const code = `print(${JSON.stringify(line)} * 40_000, end='')`;

  it("is whole in every form, and when it is asked for again", async () => {
    const direct = await server.ask(execute, python(code));
    const text = await direct.text();
    expect(direct.headers.get("content-length")).toBe(String(Buffer.byteLength(text)));
    const answer = JSON.parse(text) as Json;
    expect(answer).toMatchObject({ outcome: "completed", truncated: false });
    expect(answer["stdout"] === printed).toBe(true);
    const state = await json(await server.ask(`GET /api/sandbox/${String(answer["sandbox_id"])}`));
    expect(JSON.stringify(state["result"]) === JSON.stringify(answer)).toBe(true);
    let last: Json = {};
    for await (const event of eventsOf(await server.ask(execute, python(code), ndjson))) last = event;
    expect((last["result"] as Json)["stdout"] === printed).toBe(true);
  });
});

describe("an Idempotency-Key", () => {
  it("makes one run of requests at once, later ones and streams, and of no other request", async () => {
    const key = { "idempotency-key": "key-1" };
    // Long enough that its answer is compressed by the time it is requested again.
    const body = python("import time, uuid; time.sleep(0.3); print(uuid.uuid4(), 'é' * 100_000)");
    const answers = await Promise.all([0, 1, 2].map(async () => json(await server.ask(execute, body, key))));
    answers.push(await json(await server.ask(execute, body, key)));
    expect(new Set(answers.map(({ stdout }) => stdout)).size).toBe(1);
    const events: Json[] = [];
    for await (const event of eventsOf(await server.ask(execute, body, { ...key, ...ndjson }))) events.push(event);
    expect(events.at(-1)).toMatchObject({ event: "result", result: answers[0] });
    const other = await server.ask(execute, python("print(2)"), key);
    expect([other.status, await json(other)]).toMatchObject([400, { context: { field: "Idempotency-Key" } }]);
    const bad = await server.ask(execute, body, { "idempotency-key": "two words" });
    expect(bad.status).toBe(400);
  });

  it("restarts what ended because its client went away", async () => {
    const key = { "idempotency-key": "key-2" };
    const body = python("import time; time.sleep(1); print('done')");
    const giveUp = new AbortController();
    const first = server.ask(execute, body, key, giveUp.signal);
    await until(async () => JSON.stringify(await json(await server.ask("GET /api/sandbox"))).includes("running"));
    giveUp.abort();
    await expect(first).rejects.toThrow(/abort/i);
    await until(async () => !JSON.stringify(await json(await server.ask("GET /api/sandbox"))).includes("execute"));
    expect(await json(await server.ask(execute, body, key))).toMatchObject({ outcome: "completed", stdout: "done\n" });
  });
});

describe("a session over HTTP", () => {
  it("is opened, listed, used, and ended", async () => {
    const labels = { team: "a" };
    const opened = await json(await server.ask("POST /api/sessions", { labels }));
    const at = `/api/sessions/${String(opened["session_id"])}`;
    expect(opened).toMatchObject({ session_id: expect.stringMatching(/^ses-/), sandbox_id: null, labels });
    const wrote = await server.ask(`PUT ${at}/files`, { path: "a/b.txt", content: "hello" });
    expect(wrote.status).toBe(200);
    const ran = await json(
      await server.ask(`POST ${at}/runs`, { language: "python", code: "print(open('a/b.txt').read())" }),
    );
    expect(ran).toMatchObject({ outcome: "completed", stdout: "hello\n" });
    const read = await server.ask(`GET ${at}/files/${encodeURIComponent("a/b.txt")}?offset=1&limit=3`);
    expect(await json(read)).toMatchObject({ content: "ell", truncated: true });
    expect(await json(await server.ask("GET /api/sessions?label=team=a"))).toMatchObject({ sessions: [{ labels }] });
    expect(await json(await server.ask("GET /api/sessions?label=team=b"))).toEqual({ sessions: [] });
    expect(await json(await server.ask(`GET ${at}`))).toMatchObject({ sandbox_id: ran["sandbox_id"] });
    expect(await json(await server.ask("GET /api/sandbox?label=team=a"))).toMatchObject({
      sandboxes: [{ id: ran["sandbox_id"], operation: null, kind: "session", labels }],
    });
    expect((await server.ask(`DELETE ${at}`)).status).toBe(200);
    expect((await server.ask(`GET ${at}`)).status).toBe(404);
  });
});

describe.each(revisions)("an agent that speaks MCP $revision at /mcp", ({ mode }) => {
  it("runs a program with the server's token", async () => {
    const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
    const requestInit = { headers: server.headers };
    await client.connect(new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit }));
    const result = await client.callTool({ name: "execute_code", arguments: python("print(6 * 7)") });
    expect(result).toMatchObject({ structuredContent: { outcome: "completed", stdout: "42\n" } });
    await client.close();
  });
});
