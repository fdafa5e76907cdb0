import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";
import type { ServedGlovebox } from "../../test/helpers/served-glovebox.ts";
import { hostInterpreters } from "../parts/baselines.ts";
import { serveWith } from "../parts/doors.ts";
import { firstLine } from "../parts/in-turn.ts";
import type { LeftOut, Measure, Row } from "../parts/report.ts";
import { rounded } from "../parts/statistics.ts";

/** What is printed: many short lines or a few long ones; all of it fits into what is stored of a run. */
const shapes = [
  { name: "short lines", lineBytes: 12, count: { quick: 100_000, full: 800_000 } },
  { name: "lines of 1 kB", lineBytes: 1_000, count: { quick: 5_000, full: 10_000 } },
] as const;
type Shape = (typeof shapes)[number];

const storedWithinMs = 120_000;

/** From the program to every reader of its log. */
export const logsMeasure: Measure = {
  name: "logs",
  title: "Logs",
  how: [
    "A program prints lines as fast as it can to `glovebox serve`, one reader follows the log over a WebSocket, and the store (SQLite) keeps what its limit for one run allows and counts the rest.",
    "From the request to the reader's last line; a reader that is slower than the program is told how many lines it missed. By hand: the same program with a pipe to a reader that drops everything.",
  ].join(" "),
  columns: [
    { key: "linesPerS", title: "lines a second, reader" },
    { key: "mbPerS", title: "MB a second, reader", digits: 2 },
    { key: "readPercent", title: "% read", digits: 1 },
    { key: "storedPercent", title: "% stored", digits: 1 },
  ],
  plot: { kind: "bars", value: "linesPerS", unit: "lines a second" },
  take: async (plan) => {
    await using stack = new AsyncDisposableStack();
    const served = await serveWith(plan, {}, stack);
    const rows: Row[] = [];
    const leftOut: LeftOut[] = [];
    for (const shape of shapes) {
      const count = shape.count[plan.isQuick ? "quick" : "full"];
      rows.push(
        rowOf(`${shape.name}, a pipe`, shape, {
          count,
          readMs: await toPipe(shape, count),
          lines: count,
          stored: null,
        }),
      );
      for (const engine of plan.engines) {
        const name = `${shape.name}, ${engine}`;
        plan.say(name);
        try {
          rows.push(rowOf(name, shape, { count, ...(await toReaders(served, engine, shape, count)) }));
        } catch (error) {
          leftOut.push({ name, reason: firstLine(error) });
        }
      }
    }
    return { rows, leftOut };
  },
};

interface Reading {
  /** Lines that reached the reader. */
  readonly lines: number;
  readonly readMs: number;
  /** Lines that the store keeps; null by hand, where there is none. */
  readonly stored: number | null;
}

function rowOf(name: string, { lineBytes }: Shape, reading: Reading & { readonly count: number }): Row {
  const { count, lines, readMs, stored } = reading;
  const linesPerS = lines / (readMs / 1_000);
  const isBaseline = stored === null;
  const shares = {
    readPercent: (lines / count) * 100,
    storedPercent: isBaseline ? null : (stored / count) * 100,
  };
  return { name, isBaseline, values: rounded({ linesPerS, mbPerS: (linesPerS * lineBytes) / 1e6, ...shares }) };
}

function codeOf({ lineBytes }: Shape, count: number): string {
  return `for i in range(${count}): print(str(i).ljust(${lineBytes - 1}, "x"))`;
}

async function toPipe(shape: Shape, count: number): Promise<number> {
  const { python } = await hostInterpreters();
  const startedMs = performance.now();
  const child = spawn(python, ["-c", codeOf(shape, count)], { stdio: ["ignore", "pipe", "inherit"] });
  child.stdout.resume();
  await once(child, "close");
  return performance.now() - startedMs;
}

async function toReaders(served: ServedGlovebox, engine: string, shape: Shape, count: number): Promise<Reading> {
  const headers = { authorization: `Bearer ${served.token}`, "content-type": "application/json" };
  const request = { language: "python", code: codeOf(shape, count), engine, packages: [], timeout_seconds: 300 };
  const startedMs = performance.now();
  const answer = await fetch(`${served.url}/api/sandbox/execute`, {
    ...{ method: "POST", body: JSON.stringify(request) },
    headers: { ...headers, prefer: "respond-async" },
  });
  const { sandbox_id: id } = (await answer.json()) as { readonly sandbox_id: string };
  const { lines, missed } = await follow(served, id, headers);
  const readMs = performance.now() - startedMs;
  // What was missed may include entries that are not the program's.
  if (lines + missed < count) throw new Error(`The reader got ${lines} of ${count} lines, and missed ${missed}.`);
  for (const until = performance.now() + storedWithinMs; performance.now() < until; await sleep(100)) {
    const { kept, accounted } = storedLines(served, id);
    if (accounted >= count) return { lines, readMs, stored: kept };
  }
  throw new Error("The store does not account for all lines.");
}

/** Lines of the program that a reader gets until the log ends, and those that it is told it missed. */
async function follow(
  served: ServedGlovebox,
  id: string,
  headers: Readonly<Record<string, string>>,
): Promise<{ readonly lines: number; readonly missed: number }> {
  // The log exists as soon as the run has a place.
  while ((await served.call("GET", `/api/sandbox/${id}/logs?limit=1`)).status !== 200) await sleep(5);
  const socket = new WebSocket(`${served.url.replace("http", "ws")}/api/sandbox/${id}/logs`, { headers });
  let lines = 0;
  let missed = 0;
  socket.on("message", (data) => {
    const entry = JSON.parse((data as Buffer).toString("utf8")) as {
      readonly stream: string;
      readonly dropped?: number;
    };
    missed += entry.dropped ?? 0;
    if (entry.stream === "stdout" && entry.dropped === undefined) lines += 1;
  });
  await once(socket, "close");
  return { lines, missed };
}

interface Stored {
  readonly kept: number;
  /** Kept and dropped lines added up. */
  readonly accounted: number;
}

function storedLines({ home }: ServedGlovebox, id: string): Stored {
  using database = new DatabaseSync(join(home, "state/glovebox/store.db"), { readOnly: true });
  const query = `select sum(stream = 'stdout' and dropped = 0) as kept, sum(max(dropped, 1)) as accounted
    from log_entries where sandbox = ?`;
  const found = database.prepare(query).get(id);
  return { kept: Number(found?.["kept"]), accounted: Number(found?.["accounted"]) };
}
