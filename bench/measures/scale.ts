import { setTimeout as sleep } from "node:timers/promises";
import { createGlovebox, type Glovebox } from "../../src/index.ts";
import { codeOf } from "../parts/baselines.ts";
import { assertCompleted } from "../parts/doors.ts";
import { firstLine } from "../parts/in-turn.ts";
import { lastingWord, memoryEngine, registerMemoryEngine } from "../parts/memory-engine.ts";
import { memoryMb } from "../parts/process-memory.ts";
import type { BenchPlan, LeftOut, Measure, Row } from "../parts/report.ts";
import { median, rounded } from "../parts/statistics.ts";
import { scaleRow } from "./row-names.ts";

const counts = {
  real: { quick: [1, 10], full: [1, 10, 50] },
  simulated: { quick: [1, 10, 1_000], full: [1, 10, 100, 1_000] },
} as const;
const idleMs = { quick: 2_000, full: 5_000 } as const;
const rounds = { quick: 3, full: 10 } as const;
/** This many sandboxes are started at a time. */
const starters = 4;

/** How costs grow with the number of sandboxes that already run. */
export const scaleMeasure: Measure = {
  name: "scale",
  title: "With more live sandboxes",
  how: [
    "One cold execution, one list of the sandboxes, and the idle use of this process, with this many live, waiting sandboxes;",
    "on the engines, and on a simulated one in memory, where only Glovebox's own work is measured.",
  ].join(" "),
  columns: [
    { key: "live", title: "live sandboxes" },
    { key: "executeMs", title: "execute, median ms", digits: 1 },
    { key: "listMs", title: "list, median ms", digits: 2 },
    { key: "cpuPercent", title: "CPU % when idle", digits: 1 },
    { key: "residentMb", title: "MB resident", digits: 0 },
  ],
  plot: { kind: "lines", x: "live", value: "executeMs", unit: "ms for one execution" },
  take: async (plan) => {
    registerMemoryEngine();
    const form = plan.isQuick ? "quick" : "full";
    const rows: Row[] = [];
    const leftOut: LeftOut[] = [];
    for (const engine of [...plan.engines, memoryEngine]) {
      const steps = counts[engine === memoryEngine ? "simulated" : "real"][form];
      try {
        rows.push(...(await growthOn(engine, steps, plan)));
      } catch (error) {
        leftOut.push({ name: engine, reason: firstLine(error) });
      }
    }
    return { rows, leftOut };
  },
};

async function growthOn(engine: string, steps: readonly number[], plan: BenchPlan): Promise<readonly Row[]> {
  const settings = {
    max_containers: Math.max(...steps) + 10,
    queue: { limit: 2_000, timeout: "10m" },
    images: plan.images,
  };
  await using glovebox = await createGlovebox({ settings });
  const ending = new AbortController();
  const ends: Promise<unknown>[] = [];
  const rows: Row[] = [];
  try {
    for (const count of steps) {
      plan.say(`${engine}, ${count} live`);
      while (ends.length < count) {
        const more = Array.from({ length: Math.min(starters, count - ends.length) }, () =>
          begin(engine, glovebox, ending.signal),
        );
        await Promise.all(more.map(({ started }) => started));
        ends.push(...more.map(({ end }) => end));
      }
      rows.push(await rowWith(engine, count, glovebox, plan));
    }
  } finally {
    ending.abort();
    await Promise.allSettled(ends);
  }
  return rows;
}

/** A program that does nothing until it is ended; `started` resolves when it has its sandbox. */
function begin(
  engine: string,
  glovebox: Glovebox,
  signal: AbortSignal,
): { readonly started: Promise<unknown>; readonly end: Promise<unknown> } {
  const code = `import time\nword = "${lastingWord}"\ntime.sleep(3600)`;
  const request = { language: "python", code, engine, packages: [], timeoutSeconds: 3_600 } as const;
  const { promise: started, resolve, reject } = Promise.withResolvers<void>();
  const end = glovebox.execute(request, {
    signal,
    onEvent: ({ type }) => (type === "sandbox" ? resolve() : undefined),
  });
  const settled = Promise.resolve(end).catch((error: unknown) => reject(error));
  return { started, end: settled };
}

async function rowWith(engine: string, live: number, glovebox: Glovebox, { isQuick }: BenchPlan): Promise<Row> {
  const form = isQuick ? "quick" : "full";
  const times: { execute: number[]; list: number[] } = { execute: [], list: [] };
  for (let round = 0; round < rounds[form]; round += 1) {
    const startedMs = performance.now();
    assertCompleted(await glovebox.execute({ language: "python", code: codeOf.python, engine, packages: [] }));
    times.execute.push(performance.now() - startedMs);
    const askedMs = performance.now();
    await glovebox.sandboxes.list({ engine });
    times.list.push(performance.now() - askedMs);
  }
  const before = process.cpuUsage();
  await sleep(idleMs[form]);
  const { user, system } = process.cpuUsage(before);
  return {
    name: scaleRow(engine, live),
    series: engine === memoryEngine ? "simulated" : engine,
    values: rounded({
      live,
      executeMs: median(times.execute),
      listMs: median(times.list),
      cpuPercent: ((user + system) / 1_000 / idleMs[form]) * 100,
      residentMb: memoryMb(process.pid),
    }),
  };
}
