import { readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { serveGlovebox, type ServedGlovebox } from "../helpers/served-glovebox.ts";
import { until } from "../helpers/until.ts";

interface Entry {
  readonly container_id: string;
  readonly offset: number;
  readonly timestamp: string;
  readonly stream: string;
  readonly message: string;
  readonly partial?: boolean;
  readonly dropped?: number;
}
interface Page {
  readonly container_id: string;
  readonly entries: readonly Entry[];
  readonly next_offset: number;
  readonly is_over: boolean;
}

let served: ServedGlovebox;
const secret = "hunter2-hunter2-hunter2";
beforeAll(async () => void (served = await serveGlovebox({ GLOVEBOX_SECRETS: "API_KEY", API_KEY: secret })));
afterAll(() => served[Symbol.asyncDispose]());

async function execute(
  code: string,
  more: object = {},
): Promise<Readonly<Record<string, unknown>> & { readonly sandbox_id: string }> {
  const { status, body } = await served.call("POST", "/api/sandbox/execute", { language: "python", code, ...more });
  expect(status, JSON.stringify(body)).toBe(200);
  return body as never;
}

async function logs(id: string, query = ""): Promise<Page> {
  const { status, body } = await served.call("GET", `/api/sandbox/${id}/logs${query}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body as Page;
}

it("has one entry a line, in order per stream, between the start and the end of the run", async () => {
  const code = [
    "import sys, time",
    "print('one'); print('twö'); sys.stdout.flush()",
    "print('problem', file=sys.stderr)",
    "time.sleep(0.2)",
    "sys.stdout.buffer.write(b'raw \\xff\\x00\\r\\n' + b'x' * 40000 + b'\\nlast without end')",
  ].join("\n");
  const { sandbox_id: id, policy_digest: policy } = await execute(code);
  const page = await logs(id);
  const of = (stream: string) => page.entries.filter((entry) => entry.stream === stream);
  expect(
    of("stdout").map(({ message, partial }) => [message.length > 100 ? message.length : message, partial]),
  ).toEqual([
    ["one", undefined],
    ["twö", undefined],
    ["raw \ufffd\u2400", undefined],
    ...[
      [16_384, true],
      [16_384, true],
      [40_000 - 2 * 16_384, undefined],
    ],
    ["last without end", undefined],
  ]);
  expect(of("stderr").map(({ message }) => message)).toEqual(["problem"]);
  expect(of("system").map(({ message }) => message)).toEqual([
    expect.stringMatching(/^sandbox sbx-\w+ created \(execute, engine local\)$/),
    expect.stringMatching(/^run run-\w+ started \(execute\)$/),
    expect.stringMatching(/^run run-\w+ ended: completed, exit code 0, \d+ ms$/),
    expect.stringMatching(/^sandbox sbx-\w+ removed$/),
  ]);
  expect(page.entries.map(({ offset }) => offset)).toEqual(page.entries.map((_, index) => index));
  expect(page.entries.every((entry) => entry.container_id === id && !Number.isNaN(Date.parse(entry.timestamp)))).toBe(
    true,
  );
  expect(page).toMatchObject({ container_id: id, is_over: true, next_offset: page.entries.length });
  expect(policy).toMatch(/^[0-9a-f]{64}$/);
});

it("is read in pages, by stream and offset", async () => {
  const { sandbox_id: id } = await execute("import sys\nfor i in range(10): print(i); print(-i, file=sys.stderr)");
  const collected: string[] = [];
  for (let offset = 0, isOver = false; !isOver;) {
    const page = await logs(id, `?stream=stdout&limit=3&offset=${offset}`);
    collected.push(...page.entries.map(({ message }) => message));
    ({ next_offset: offset, is_over: isOver } = page);
  }
  expect(collected).toEqual(Array.from({ length: 10 }, (_, index) => String(index)));
});

it("is read from its end, from memory and from the store", async () => {
  const { sandbox_id: id } = await execute("for i in range(100): print(i)");
  const whole = await logs(id);
  const end = await logs(id, "?tail=5");
  expect(end).toEqual({ ...whole, entries: whole.entries.slice(-5) });
  expect(await logs(id, "?tail=10000")).toEqual(whole);
  // Another server on the same store; its folders are kept.
  const other = await serveGlovebox({}, served.home);
  const { body } = await other.call("GET", `/api/sandbox/${id}/logs?tail=5`);
  other.child.kill("SIGTERM");
  await other.ended;
  expect(body).toEqual(end);
});

it.each([
  "?tail=1&offset=1",
  "?tail=0",
  "?offset=-1",
  "?offset=x",
  "?limit=0",
  "?limit=100001",
  "?stream=other",
  "?follow=1",
  "?offset=1&offset=2",
])("refuses %s, and names the field", async (query) => {
  const { status, body } = await served.call("GET", `/api/sandbox/sbx-1/logs${query}`);
  expect({ status, body }).toMatchObject({ status: 400, body: { error_type: "INVALID_REQUEST" } });
});

it("answers 404 for what there is not", async () => {
  const { status, body } = await served.call("GET", "/api/sandbox/sbx-unknown/logs");
  expect({ status, body }).toMatchObject({ status: 404, body: { error_type: "NOT_FOUND" } });
});

it("stores runs, their policy and their lines without the values of secrets", async () => {
  const code = "import os; print('to be stored'); print(os.environ['API_KEY'])";
  const { sandbox_id: id, policy_digest: digest } = await execute(code, { secrets: ["API_KEY"] });
  const file = path.join(served.home, "state/glovebox/store.db");
  const rows = (sql: string, ...values: string[]): unknown[] => {
    using database = new DatabaseSync(file, { readOnly: true });
    return database.prepare(sql).all(...values);
  };
  await until(() => rows("select * from log_entries where sandbox = ? and message like '%removed'", id).length > 0);
  expect(rows("select stream, message from log_entries where sandbox = ? and stream = 'stdout'", id)).toMatchObject([
    { stream: "stdout", message: "to be stored" },
    { stream: "stdout", message: "[redacted:API_KEY]" },
  ]);
  for (const each of [file, `${file}-wal`]) expect(readFileSync(each).includes(secret), each).toBe(false);
  expect(rows("select * from runs where sandbox = ?", id)).toMatchObject([
    {
      principal: "local",
      kind: "execute",
      engine: "local",
      outcome: "completed",
      exit_code: 0,
      policy_digest: digest,
      interrupted: 0,
    },
  ]);
  const [policy] = rows("select policy from policies where digest = ?", String(digest)) as { policy: string }[];
  expect(JSON.parse(policy?.policy ?? "")).toMatchObject({
    engine: "local",
    kind: "execute",
    network: { kind: "none" },
    limits: { pids: 100 },
  });
});
