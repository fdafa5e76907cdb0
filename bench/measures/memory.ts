import { setTimeout as sleep } from "node:timers/promises";
import type { ServedGlovebox } from "../../test/helpers/served-glovebox.ts";
import { codeOf } from "../parts/baselines.ts";
import { ask, assertCompleted, serveWith } from "../parts/doors.ts";
import { firstLine } from "../parts/in-turn.ts";
import { memoryMb } from "../parts/process-memory.ts";
import type { BenchPlan, LeftOut, Measure, Row } from "../parts/report.ts";
import { rounded } from "../parts/statistics.ts";
import { memoryRows } from "./row-names.ts";

const runCounts = { quick: [1, 50, 150], full: [1, 1_000, 10_000] } as const;
const clients = 4;
const liveSandboxes = 10;
const floodSeconds = { quick: 5, full: 60 } as const;
/** Time in which the memory of ended runs is released. */
const restMs = 2_000;
const lookEveryMs = 100;

/** The memory of the server itself. */
export const memoryMeasure: Measure = {
  name: "memory",
  title: "Memory of the server",
  how: [
    "Resident memory of `glovebox serve`: with ten live sessions on each engine, each in a separate server;",
    "after this many runs in total, by four clients at once on the first measured engine among local, podman and docker; and the peak while a program prints as fast as it can for a minute (five seconds in the quick form) and nothing reads it.",
    "Growth is counted from the first run; for the flood, from just before it.",
  ].join(" "),
  columns: [
    { key: "residentMb", title: "MB resident", digits: 1 },
    { key: "growthMb", title: "MB growth", digits: 1 },
  ],
  plot: { kind: "bars", value: "residentMb", unit: "MB resident" },
  take: async (plan) => {
    const engine = ["local", "podman", "docker"].find((each) => plan.engines.includes(each)) ?? "local";
    const leftOut: LeftOut[] = [];
    const live: Row[] = [];
    for (const each of plan.engines) {
      plan.say(`live on ${each}`);
      const name = memoryRows.live(each, liveSandboxes);
      await withLive(each, plan).then(
        (residentMb) => live.push({ name, values: rounded({ residentMb, growthMb: null }) }),
        (error: unknown) => leftOut.push({ name, reason: firstLine(error) }),
      );
    }
    await using stack = new AsyncDisposableStack();
    const served = await serveWith(plan, {}, stack);
    const start = { name: memoryRows.start, values: rounded({ residentMb: resident(served), growthMb: null }) };
    const runs = await afterRuns(served, engine, plan);
    const flood = await duringFlood(served, engine, plan, runs.at(-1)?.values["residentMb"] ?? 0);
    return { rows: [start, ...live, ...runs, flood], leftOut };
  },
};

function resident({ child }: ServedGlovebox): number {
  return memoryMb(child.pid);
}

async function afterRuns(served: ServedGlovebox, engine: string, { isQuick, say }: BenchPlan): Promise<readonly Row[]> {
  const request = { language: "python", code: codeOf.python, engine, packages: [] };
  const rows: Row[] = [];
  let done = 0;
  let first: number | null = null;
  for (const count of runCounts[isQuick ? "quick" : "full"]) {
    say(`${count} runs`);
    const client = async (): Promise<void> => {
      while (done < count) {
        done += 1;
        assertCompleted(await ask(served, "POST", "/api/sandbox/execute", request));
      }
    };
    await Promise.all(Array.from({ length: clients }, client));
    await sleep(restMs);
    const residentMb = resident(served);
    rows.push({
      name: memoryRows.runs(count),
      values: rounded({ residentMb, growthMb: first === null ? null : residentMb - first }),
    });
    first ??= residentMb;
  }
  return rows;
}

async function duringFlood(
  served: ServedGlovebox,
  engine: string,
  { isQuick, say }: BenchPlan,
  beforeMb: number,
): Promise<Row> {
  say("flood");
  const timeout = floodSeconds[isQuick ? "quick" : "full"];
  const code = "import sys\nline = 'flood ' * 12 + '\\n'\nwhile True: sys.stdout.write(line)";
  const request = { language: "python", code, engine, packages: [], timeout_seconds: timeout };
  let isOver = false;
  const flood = served.call("POST", "/api/sandbox/execute", request).finally(() => (isOver = true));
  let residentMb = 0;
  while (!isOver) {
    residentMb = Math.max(residentMb, resident(served));
    await sleep(lookEveryMs);
  }
  const { outcome } = (await flood).body as { readonly outcome?: string };
  if (outcome !== "timed_out") throw new Error(`The flood ended as ${outcome}.`);
  return { name: memoryRows.flood, values: rounded({ residentMb, growthMb: residentMb - beforeMb }) };
}

/** Measures a separate server, since memory that was used once is not given back. */
async function withLive(engine: string, plan: BenchPlan): Promise<number> {
  await using stack = new AsyncDisposableStack();
  const served = await serveWith(plan, {}, stack);
  for (let count = 0; count < liveSandboxes; count += 1) {
    const { session_id: id } = (await ask(served, "POST", "/api/sessions", { engine })) as {
      readonly session_id: string;
    };
    const run = { language: "python", code: codeOf.python, packages: [] };
    assertCompleted(await ask(served, "POST", `/api/sessions/${id}/runs`, run));
  }
  await sleep(restMs);
  return resident(served);
}
