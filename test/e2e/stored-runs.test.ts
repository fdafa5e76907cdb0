import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, describe, expect, it } from "vitest";
import { startKeyServer } from "../helpers/key-server.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { serveGlovebox, type ServedGlovebox } from "../helpers/served-glovebox.ts";
import { until } from "../helpers/until.ts";

type Answer = Readonly<Record<string, unknown>>;
const home = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-restarted-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

const get = async (server: ServedGlovebox, route: string): Promise<Answer> => {
  const { status, body } = await server.call("GET", route);
  expect(status, JSON.stringify(body)).toBe(200);
  return body as Answer;
};
const python = (code: string, more: object = {}) => ({ language: "python", code, ...more });

describe("a server that was killed and started again", () => {
  useGlovebox("local");

  it("gives how runs ended, with their labels, and marks those that it interrupted", async () => {
    const first = await serveGlovebox({}, home);
    const program = "import sys; print('to stdout'); print('no newline', file=sys.stderr, end=''); sys.exit(3)";
    const labels = { job: "17", user: "ann" };
    const done = (await first.call("POST", "/api/sandbox/execute", python(program, { labels }))).body as Answer;
    const session = { labels: { job: "18" } };
    const { session_id: id } = (await first.call("POST", "/api/sessions", session)).body as Answer;
    const called = await fetch(`${first.url}/api/sessions/${String(id)}/runs`, {
      method: "POST",
      headers: { authorization: `Bearer ${first.token}`, "content-type": "application/json" },
      body: JSON.stringify(python("print('of the session')")),
    });
    const ofSession = called.headers.get("glovebox-run-id") ?? "";
    expect(await called.json()).toMatchObject({ outcome: "completed" });
    const removed = (await first.call("POST", "/api/sandbox/execute", python("1", { labels }))).body as Answer;
    await first.call("DELETE", `/api/sandbox/${String(removed["sandbox_id"])}`);
    const waiting = first.call(
      "POST",
      "/api/sandbox/execute",
      python("import time; print('up', flush=True); time.sleep(60)", { labels }),
    );
    waiting.catch(() => undefined);
    let interrupted = "";
    await until(async () => {
      const { sandboxes } = await get(first, "/api/sandbox?label=job=17");
      [{ id: interrupted = "" } = {}] = sandboxes as { id: string }[];
      return interrupted !== "" && (await get(first, `/api/sandbox/${interrupted}`))["stdout_tail"] === "up\n";
    });
    const database = new DatabaseSync(path.join(home, "state/glovebox/store.db"), { readOnly: true });
    const stored = database.prepare("select 1 from log_entries where sandbox = ? and message = 'up'");
    await until(() => stored.get(interrupted) !== undefined);
    database.close();
    await until(async () => ((await get(first, "/api/sandbox?state=ended"))["sandboxes"] as unknown[]).length === 2);
    const exited = once(first.child, "exit");
    first.child.kill("SIGKILL");
    await exited;

    await using again = await serveGlovebox({}, home);
    await until(async () => ((await get(again, "/api/sandbox?state=ended"))["sandboxes"] as unknown[]).length === 3);
    const { sandboxes } = await get(again, "/api/sandbox?state=ended&label=job=17&label=user=ann");
    expect(sandboxes).toMatchObject([
      {
        ...{ id: interrupted, state: "ended", labels, kind: "execute", engine: "local" },
        stored: { outcome: "sandbox_lost", interrupted: true, exit_code: null, ended_at: expect.any(String) },
      },
      { id: done["sandbox_id"], state: "ended", labels, stored: { outcome: "failed", exit_code: 3 } },
    ]);
    expect(await get(again, "/api/sandbox")).toEqual({ sandboxes: [] });
    expect(await get(again, `/api/sandbox/${String(done["sandbox_id"])}`)).toMatchObject({
      ...{ id: done["sandbox_id"], state: "ended", stdout_tail: "to stdout\n", stderr_tail: "no newline\n", labels },
      stored: {
        ...{ outcome: "failed", exit_code: 3, duration_ms: done["duration_ms"], policy_digest: done["policy_digest"] },
        ...{ session_id: null, interrupted: false, error_type: null, started_at: expect.stringMatching(/Z$/) },
      },
    });
    expect(await get(again, `/api/sandbox/${interrupted}`)).toMatchObject({ state: "ended", stdout_tail: "up\n" });
    expect(await get(again, `/api/sandbox/${ofSession}`)).toMatchObject({
      ...{ id: ofSession, stdout_tail: "of the session\n", labels: { job: "18" } },
      stored: { session_id: id, outcome: "completed" },
    });
    expect((await again.call("GET", `/api/sandbox/${String(removed["sandbox_id"])}`)).status).toBe(404);
    expect((await again.call("DELETE", `/api/sandbox/${ofSession}`)).status).toBe(200);
    for (const method of ["GET", "DELETE"]) {
      expect((await again.call(method, `/api/sandbox/${ofSession}`)).status).toBe(404);
    }
  });

  it("refuses bad queries, and shows a key only its own runs", async () => {
    await using server = await startKeyServer([], { XDG_STATE_HOME: path.join(home, "keys") });
    const [ann, bob] = [await server.addKey("ann"), await server.addKey("bob")];
    const labels = { job: "1" };
    const run = (await (await ann.ask("POST /api/sandbox/execute", python("1", { labels }))).json()) as Answer;
    const id = String(run["sandbox_id"]);
    const listed = async (key: typeof ann) => {
      const answer = (await (await key.ask("GET /api/sandbox?state=ended&label=job=1")).json()) as Answer;
      return (answer["sandboxes"] as { id: string }[]).map((row) => row.id);
    };
    expect(await listed(ann)).toEqual([id]);
    expect(await listed(bob)).toEqual([]);
    for (const method of ["GET", "DELETE"]) {
      expect((await bob.ask(`${method} /api/sandbox/${id}`)).status).toBe(404);
      expect((await bob.ask(`${method} /api/sandbox/${String(run["run_id"])}`)).status).toBe(404);
    }
    for (const query of ["state=gone", "limit=0", "limit=1001", "state=ended&limit=x", "label=job%3D%00", "since=1"]) {
      expect((await ann.ask(`GET /api/sandbox?${query}`)).status, query).toBe(400);
    }
    expect((await ann.ask("GET /api/sandbox/run-%00")).status).toBe(404);
    const nul = await ann.ask("POST /api/sandbox/execute", python("1", { labels: { job: "\0" } }));
    expect(nul.status).toBe(400);
  });
});
