import { setTimeout as sleep } from "node:timers/promises";
import { codeOf } from "../parts/baselines.ts";
import { ask, assertCompleted, serveWith } from "../parts/doors.ts";
import { firstLine } from "../parts/in-turn.ts";
import { burst, sustain } from "../parts/load.ts";
import type { BenchPlan, LeftOut, Measure, Row } from "../parts/report.ts";
import { quantile, ratio, rounded } from "../parts/statistics.ts";
import { warmths, warmthSettings } from "../parts/warmth.ts";
import { burstRow } from "./row-names.ts";

/** Places at the same time; requests that find none wait. */
const places = 10;
const sizes = [10, 100] as const;
const restMs = 1_000;

/** Many requests at the same time. */
export const burstMeasure: Measure = {
  name: "burst",
  title: "Bursts",
  how: [
    `Requests over HTTP, all at the same time, to a server with \`MAX_CONTAINERS=${places}\` and a queue of 120 s.`,
    `Predicted is the time in which the rate that ${places} clients sustain on the same server completes half of them.`,
  ].join(" "),
  columns: [
    { key: "lost", title: "lost" },
    { key: "medianS", title: "median s", digits: 2 },
    { key: "lastS", title: "last s", digits: 2 },
    { key: "predictedS", title: "predicted s", digits: 2 },
    { key: "overPredicted", title: "median x predicted", digits: 2 },
    { key: "sustained", title: "sustained a second", digits: 1 },
  ],
  plot: { kind: "bars", value: "medianS", unit: "s until half are done" },
  take: async (plan) => {
    const rows: Row[] = [];
    const leftOut: LeftOut[] = [];
    for (const warmth of warmths) {
      await using stack = new AsyncDisposableStack();
      const settings = { ...warmthSettings[warmth], max_containers: places, queue: { limit: 100, timeout: "120s" } };
      const served = await serveWith(plan, settings, stack);
      for (const engine of plan.engines) {
        const request = { language: "python", code: codeOf.python, engine, packages: [] };
        const run = async (): Promise<void> =>
          assertCompleted(await ask(served, "POST", "/api/sandbox/execute", request));
        plan.say(`${engine}, ${warmth}`);
        try {
          await run();
          rows.push(...(await burstsOf(run, (size) => burstRow(engine, size, warmth), plan)));
        } catch (error) {
          leftOut.push({ name: `${engine}, ${warmth}`, reason: firstLine(error) });
        }
      }
    }
    return { rows, leftOut };
  },
};

async function burstsOf(
  run: () => Promise<void>,
  nameOf: (size: number) => string,
  { isQuick }: BenchPlan,
): Promise<readonly Row[]> {
  const { perSecond } = await sustain(run, places, isQuick ? 3_000 : 15_000);
  const rows: Row[] = [];
  for (const size of sizes) {
    await sleep(restMs);
    const { doneMs, failed } = await burst(run, isQuick ? Math.min(size, 30) : size);
    const medianS = quantile(doneMs, 0.5) / 1_000;
    const predictedS = (doneMs.length + failed) / 2 / perSecond;
    const values = rounded({
      ...{ lost: failed, medianS, predictedS },
      lastS: quantile(doneMs, 1) / 1_000,
      overPredicted: ratio(medianS, predictedS),
      sustained: perSecond,
    });
    rows.push({ name: nameOf(isQuick ? Math.min(size, 30) : size), values });
  }
  return rows;
}
