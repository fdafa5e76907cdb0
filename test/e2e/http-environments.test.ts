import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startKeyServer, type KeyServer, type TestKey } from "../helpers/key-server.ts";
import { isRequired } from "../helpers/require.ts";
import { testImages } from "../helpers/test-images.ts";
import { until } from "../helpers/until.ts";

type Json = Readonly<Record<string, unknown>>;

const later = { prefer: "respond-async" };
const forms = { ndjson: "application/x-ndjson", events: "text/event-stream" };

async function answerOf(response: Response): Promise<Json & { readonly status: number }> {
  return { ...((await response.json()) as Json), status: response.status };
}

/** The events of a stream that has ended. */
async function eventsOf(response: Response): Promise<readonly Json[]> {
  expect(response.status).toBe(200);
  const text = await response.text();
  const lines = text.split("\n").map((line) => line.replace(/^data: /, ""));
  return lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line) as Json);
}

const create = "POST /api/environments";
const image = testImages.python;

describe.each(["docker", "podman"] as const)("environments over HTTP with keys on %s", (engine) => {
  let folder = "";
  let server: KeyServer | undefined;
  let ann: TestKey;
  let bob: TestKey;
  beforeAll(async () => {
    if (!isRequired(engine)) return;
    folder = realpathSync(mkdtempSync(path.join(os.tmpdir(), "glovebox-test-")));
    mkdirSync(path.join(folder, "project"));
    const state = mkdtempSync(path.join(folder, "state-"));
    server = await startKeyServer(["--engine", engine], { GLOVEBOX_PROJECT_ROOTS: folder, XDG_STATE_HOME: state });
    ann = await server.addKey("ann", "--mount-roots", path.join(folder, "project"));
    bob = await server.addKey("bob");
    const body = { env_id: "mine", image, project_root: path.join(folder, "project") };
    await ann.ask(create, body);
  });
  beforeEach((context) => {
    if (!isRequired(engine)) context.skip(`GLOVEBOX_TEST_REQUIRE does not list ${engine}`);
  });
  afterAll(async () => {
    await server?.[Symbol.asyncDispose]();
    if (folder !== "") rmSync(folder, { recursive: true });
  });

  /** Answers of requests that are answered later. */
  const resultOf = async (key: TestKey, response: Response): Promise<Json> => {
    expect(response.status).toBe(202);
    const { status_url: url } = await answerOf(response);
    let state: Json = {};
    await until(async () => (state = await answerOf(await key.ask(`GET ${String(url)}`)))["state"] === "ended");
    return state["result"] as Json;
  };

  it("are made, and run commands, in each form of answer", async () => {
    const body = { env_id: "first", image, labels: { job: "1" } };
    const made = await answerOf(await ann.ask(create, body));
    expect(made).toMatchObject({ status: 200, env_id: "first", engine, mount_path: "/workdir" });
    expect(await resultOf(ann, await ann.ask(create, { env_id: "later", image }, later))).toMatchObject({
      ...{ env_id: "later", engine },
    });
    const streamed = await eventsOf(await ann.ask(create, { env_id: "streamed", image }, { accept: forms.ndjson }));
    expect(streamed.at(-1)).toMatchObject({ event: "result", result: { env_id: "streamed" } });
    const listed = await answerOf(await ann.ask("GET /api/environments?label=job=1"));
    expect(listed["environments"]).toMatchObject([{ env_id: "first", labels: { job: "1" } }]);

    const run = "POST /api/environments/first/commands";
    const command = ["sh", "-c", "echo out; echo err >&2; exit 3"];
    const result = { outcome: "failed", exit_code: 3, stdout_tail: "out\n", stderr_tail: "err\n" };
    expect(await answerOf(await ann.ask(run, { command }))).toMatchObject({ status: 200, ...result });
    expect(await resultOf(ann, await ann.ask(run, { command }, later))).toMatchObject(result);
    for (const accept of Object.values(forms)) {
      const events = await eventsOf(await ann.ask(run, { command }, { accept }));
      expect(events).toContainEqual({ event: "output", stream: "stdout", text: "out\n" });
      expect(events.at(-1)).toMatchObject({ event: "result", result });
    }
    for (const id of ["first", "later", "streamed"]) {
      expect((await ann.ask(`DELETE /api/environments/${id}`)).status).toBe(200);
    }
  });

  it("have a row for each command that runs in one, with what that one runs", async () => {
    const { sandbox_id: sandbox } = await answerOf(await ann.ask(create, { env_id: "busy", name: "shop", image }));
    const run = "POST /api/environments/busy/commands";
    // At the same moment: each has its own words all the same.
    const commands = [60, 61, 62, 63, 64, 65].map((seconds) => `sleep ${seconds}; true`);
    await Promise.all(commands.map((command) => ann.ask(run, { command: ["sh", "-c", command] }, later)));
    const rowsOf = async (): Promise<readonly Json[]> => {
      const { sandboxes } = await answerOf(await ann.ask("GET /api/sandbox"));
      return (sandboxes as readonly Json[]).filter(({ operation, state }) => operation !== null && state === "running");
    };
    await until(async () => (await rowsOf()).length === commands.length);
    const rows = await rowsOf();
    expect(rows.map(({ work }) => String(work)).toSorted()).toEqual(commands);
    for (const row of rows) {
      expect(row).toMatchObject({ ...{ sandbox_id: sandbox, name: "shop", kind: "environment" }, engine, image });
    }
    expect((await ann.ask("DELETE /api/environments/busy")).status).toBe(200);
  });

  it("have files and background processes with ports, which another key never sees", async () => {
    const at = "/api/environments/mine";
    const { sandbox_id: sandbox } = await answerOf(await ann.ask(create, { env_id: "anns-second", image }));
    const wrote = await answerOf(await ann.ask(`PUT ${at}/files`, { path: "a b/ö.txt", content: "hello ☃" }));
    expect(wrote).toMatchObject({ status: 200, env_id: "mine", size_bytes: 9, tooling_files: [] });
    expect(readFileSync(path.join(folder, "project/a b/ö.txt"), "utf8")).toBe("hello ☃");
    const file = `${at}/files/${encodeURIComponent("a b/ö.txt")}`;
    expect(await answerOf(await ann.ask(`GET ${file}?offset=1&limit=3`))).toMatchObject({
      content: "ell",
      truncated: true,
    });
    expect(await answerOf(await ann.ask(`GET ${at}/files?path=a%20b`))).toMatchObject({ files: [{ path: "ö.txt" }] });

    const serve = { command: ["python3", "-m", "http.server", "8000", "--bind", "127.0.0.1"], ports: [8000] };
    const started = await answerOf(await ann.ask(`POST ${at}/processes`, serve));
    const process = `${at}/processes/${String(started["process_id"])}`;
    const [{ url }] = started["ports"] as [{ readonly url: string }];
    const page = `${url}/a%20b/%C3%B6.txt`;
    await until(
      async () =>
        (await fetch(page).then(
          (answer) => answer.text(),
          () => "",
        )) === "hello ☃",
    );
    expect(await answerOf(await ann.ask(`GET ${at}/processes`))).toMatchObject({ processes: [{ state: "running" }] });
    const reader = await answerOf(await ann.ask(`POST ${at}/processes`, { command: ["cat"] }));
    const cat = `${at}/processes/${String(reader["process_id"])}`;
    expect((await ann.ask(`POST ${cat}`, { text: "typed\n", close: true })).status).toBe(200);
    await until(async () => (await (await ann.ask(`GET ${cat}`)).text()).includes('"text":"typed\\n"'));

    const foreign: readonly (readonly [string, unknown?])[] = [
      [`GET ${at}/files`],
      [`GET ${file}`],
      [`PUT ${at}/files`, { path: "x", content: "x" }],
      [`GET ${at}/processes`],
      [`POST ${at}/processes`, { command: ["true"] }],
      [`GET ${process}`],
      [`POST ${process}`, { text: "x" }],
      [`DELETE ${process}`],
      [`POST ${at}/commands`, { command: ["true"] }],
      [`GET /api/sandbox/${String(sandbox)}/place`],
      [`DELETE ${at}`],
    ];
    for (const [route, body] of foreign) {
      const answer = await answerOf(await bob.ask(route, body));
      expect(answer, route).toMatchObject({ status: 404, error_type: "NOT_FOUND" });
      expect(JSON.stringify(answer), route).not.toMatch(/anns-second|ö\.txt/);
    }
    expect(await answerOf(await ann.ask(`GET /api/sandbox/${String(sandbox)}/place`))).toMatchObject({
      env_id: "anns-second",
    });
    const refused = await answerOf(await bob.ask(create, { image, project_root: path.join(folder, "project") }));
    expect(refused).toMatchObject({ status: 400, context: { field: "project_root" } });

    expect(await answerOf(await ann.ask(`DELETE ${process}`))).toMatchObject({ state: "exited" });
    await expect(fetch(page)).rejects.toThrow(/fetch failed/);
  });

  it("refuse unknown fields of files by name", async () => {
    const at = "/api/environments/mine/files";
    const long = "x".repeat(5000);
    const bad: readonly (readonly [string, unknown, string])[] = [
      [`PUT ${at}`, {}, "path"],
      [`PUT ${at}`, { path: "a" }, "content"],
      [`PUT ${at}`, { path: null, content: "x" }, "path"],
      [`PUT ${at}`, { path: ["a"], content: "x" }, "path"],
      [`PUT ${at}`, { path: "", content: "x" }, "path"],
      [`PUT ${at}`, { path: long, content: "x" }, "path"],
      [`PUT ${at}`, { path: "a", content: 5 }, "content"],
      [`PUT ${at}`, { path: "a", content: "x".repeat(10_485_761) }, "content"],
      [`PUT ${at}`, { path: "a", content: "x", encoding: "latin1" }, "encoding"],
      [`PUT ${at}`, { path: "a", content: "x", mode: 4755 }, "mode"],
      [`PUT ${at}`, { path: "a", content: "x", session_id: "ses-1" }, "session_id"],
      [`PUT ${at}`, { path: "a", content: "x", env_id: "other" }, "env_id"],
      [`GET ${at}?path=${long}`, undefined, "path"],
      [`GET ${at}?session_id=ses-1`, undefined, "session_id"],
      [`GET ${at}?unknown=1`, undefined, "unknown"],
      [`GET ${at}/a?offset=-1`, undefined, "offset"],
      [`GET ${at}/a?limit=0`, undefined, "limit"],
      [`GET ${at}/a?limit=1e9`, undefined, "limit"],
      [`GET ${at}/a?encoding=x`, undefined, "encoding"],
      [`GET /api/sandbox/sbx-1/place?env_id=mine`, undefined, "env_id"],
    ];
    for (const [route, body, field] of bad) {
      const answer = await answerOf(await ann.ask(route, body));
      expect(answer, `${route} ${JSON.stringify(body)?.slice(0, 80)}`).toMatchObject({
        status: 400,
        error_type: "INVALID_REQUEST",
      });
      expect(JSON.stringify(answer["context"])).toContain(`"${field}"`);
    }
    for (const name of ["a%00b", "%ED%A0%80"]) {
      expect((await answerOf(await ann.ask(`GET ${at}/${name}`))).status, name).toBe(400);
    }
    for (const id of ["none", "x".repeat(3000), "ses-1", "..%2Fmine", "mine%00"]) {
      const answer = await answerOf(await ann.ask(`GET /api/environments/${id}/files`));
      expect([400, 404], id.slice(0, 20)).toContain(answer.status);
      expect((await answerOf(await ann.ask(`GET /api/sandbox/${id}/place`))).status).toBe(
        answer.status === 400 ? 400 : 404,
      );
    }
    expect((await ann.ask(create, { env_id: "gone", image })).status).toBe(200);
    expect((await ann.ask("DELETE /api/environments/gone")).status).toBe(200);
    expect((await ann.ask("GET /api/environments/gone/files")).status).toBe(404);
  });
});
