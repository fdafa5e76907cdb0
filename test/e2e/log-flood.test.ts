import { readFileSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";
import { createClient } from "redis";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { PostgresServer, postgresProblem } from "../helpers/postgres-server.ts";
import { RedisServer, redisProblem } from "../helpers/redis-server.ts";
import { skipOrFail } from "../helpers/require.ts";
import { serveGlovebox, type ServedGlovebox } from "../helpers/served-glovebox.ts";
import { until } from "../helpers/until.ts";

const lines = 1_000_000;
/** Entries before the first line and after the last one: the start and end of the sandbox and of the run. */
const told = { before: 2, after: 2 } as const;
const total = lines + told.before + told.after;
/** It grows by 10 to 40 MB, or by 260 and more if each line is an object; the rest is room for busy machines. */
const maxGrowthMb = 100;

interface Entry {
  readonly offset: number;
  readonly stream: string;
  readonly message: string;
  readonly dropped?: number;
}

/** Follows entries: each begins where the previous one ended, and is the line at its offset. */
class Account {
  next = 0;
  wrong = 0;

  take({ offset, stream, message, dropped }: Entry): void {
    const isLine = stream === "stdout" && dropped === undefined;
    if (offset !== this.next || (isLine && message !== `line ${offset - told.before}`)) this.wrong += 1;
    this.next = offset + (dropped ?? 1);
  }
}

let redis: RedisServer | undefined;
let postgres: PostgresServer | undefined;
beforeAll(async () => {
  if (redisProblem() === null) redis = await RedisServer.start();
  if (postgresProblem() === null) postgres = await PostgresServer.start();
});
afterAll(async () => {
  await redis?.[Symbol.asyncDispose]();
  await postgres?.[Symbol.asyncDispose]();
});

describe.each(["sqlite", "postgres"] as const)("a run of 1,000,000 lines with a store in %s", (kind) => {
  beforeEach((context) => {
    if (redis === undefined) skipOrFail(context, "redis", redisProblem() ?? "");
    if (kind === "postgres" && postgres === undefined) skipOrFail(context, "postgres", postgresProblem() ?? "");
  });

  it("reaches every reader line by line in order, or as an exact count, and leaves the server small", async () => {
    const store = kind === "sqlite" ? {} : { GLOVEBOX_STORE: kind, GLOVEBOX_STORE_URL: postgres?.url ?? "" };
    await using served = await serveGlovebox({
      ...store,
      GLOVEBOX_REDIS_URL: redis?.url ?? "",
      // What the result itself keeps of the output.
      CONTAINER_MAX_OUTPUT_SIZE: "1048576",
    });
    const published = new Map<string, Account>();
    const subscriber = createClient({ url: redis?.url ?? "" });
    await subscriber.connect();
    await subscriber.pSubscribe("glovebox:logs:*", (text, channel) => {
      const account = published.get(channel) ?? new Account();
      published.set(channel, account);
      account.take(JSON.parse(text) as Entry);
    });
    await flood(served, 1_000);
    const beforeMb = memoryMb(served, "VmRSS");

    const { id, account } = await flood(served, lines);
    expect(account).toMatchObject({ next: total, wrong: 0 });
    await until(() => published.get(`glovebox:logs:${id}`)?.next === total);
    expect(published.get(`glovebox:logs:${id}`)?.wrong).toBe(0);
    subscriber.destroy();
    const query = kind === "sqlite" ? askSqlite(served) : askPostgres;
    await until(
      async () => (await query(`select max(position) as result from log_entries where ${of(id)}`)) === total - 1,
    );
    expect(await query(accounted(id))).toBe(total);
    expect(await query(astray(id))).toBe(0);
    expect(memoryMb(served, "VmHWM") - beforeMb).toBeLessThan(maxGrowthMb);
  }, 300_000);
});

/** A run with this many lines, followed over a WebSocket to its end. */
async function flood(
  served: ServedGlovebox,
  count: number,
): Promise<{ readonly id: string; readonly account: Account }> {
  const headers = { authorization: `Bearer ${served.token}`, "content-type": "application/json" };
  const code = `for i in range(${count}): print('line', i)`;
  const answer = await fetch(`${served.url}/api/sandbox/execute`, {
    method: "POST",
    headers: { ...headers, prefer: "respond-async" },
    body: JSON.stringify({ language: "python", code, timeout_seconds: 300 }),
  });
  const { sandbox_id: id } = (await answer.json()) as { readonly sandbox_id: string };
  await until(async () => (await served.call("GET", `/api/sandbox/${id}/logs?limit=1`)).status === 200);
  const account = new Account();
  const socket = new WebSocket(`${served.url.replace("http", "ws")}/api/sandbox/${id}/logs`, { headers });
  socket.on("message", (data) => account.take(JSON.parse((data as Buffer).toString("utf8")) as Entry));
  const closed = await new Promise<number>((resolve) => void socket.on("close", resolve));
  expect(closed).toBe(1000);
  return { id, account };
}

/** Memory of the server in MB: now, or its peak. */
function memoryMb({ child }: ServedGlovebox, field: "VmRSS" | "VmHWM"): number {
  const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
  return Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024;
}

type Ask = (sql: string) => Promise<number>;

function askSqlite({ home }: ServedGlovebox): Ask {
  return (sql) => {
    using database = new DatabaseSync(path.join(home, "state/glovebox/store.db"), { readOnly: true });
    return Promise.resolve(Number(database.prepare(sql).get()?.["result"]));
  };
}

async function askPostgres(sql: string): Promise<number> {
  const client = new Client({ connectionString: postgres?.url ?? "" });
  await client.connect();
  try {
    const { rows } = await client.query<{ readonly result: unknown }>(sql);
    return Number(rows[0]?.result);
  } finally {
    await client.end();
  }
}

const of = (id: string): string => `sandbox = '${id}'`;
const length = "case when dropped > 0 then dropped else 1 end";

function accounted(id: string): string {
  return `select sum(${length}) as result from log_entries where ${of(id)}`;
}

/** Rows that do not begin where the previous one ended, or are not the line at their position. */
function astray(id: string): string {
  const follows = `coalesce(lag(position + ${length}) over (order by position), 0)`;
  const line = `'line ' || (position - ${told.before})`;
  return `select count(*) as result from (
    select position, dropped, stream, message, ${follows} as expected, ${line} as line from log_entries where ${of(id)}
  ) as each_row where position <> expected or (stream = 'stdout' and dropped = 0 and message <> line)`;
}
