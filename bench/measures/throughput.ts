import { codeOf, programByHand } from "../parts/baselines.ts";
import { openDoor } from "../parts/doors.ts";
import { firstLine } from "../parts/in-turn.ts";
import { sustain } from "../parts/load.ts";
import type { BenchPlan, LeftOut, Measure, Row } from "../parts/report.ts";
import { median, ratio, rounded } from "../parts/statistics.ts";
import { warmths } from "../parts/warmth.ts";
import { throughputRows } from "./row-names.ts";

const workers = 4;
const form = { quick: { slices: 1, sliceMs: 3_000 }, full: { slices: 3, sliceMs: 10_000 } } as const;

interface Subject {
  readonly name: string;
  readonly base: string;
  readonly run: () => Promise<unknown>;
}

/** Fresh sandboxes per second, sustained. */
export const throughputMeasure: Measure = {
  name: "throughput",
  title: "Sustained throughput",
  how: [
    `${workers} workers run a Python program of one line again and again, in alternating slices; the median slice counts.`,
    "Before each slice, a fifth of its length is run untimed, so that no sandbox made in advance is left.",
    "The loops start the engine's own command with the same image and program, or bubblewrap by hand, with the same number at a time.",
  ].join(" "),
  columns: [
    { key: "perSecond", title: "runs a second", digits: 1 },
    { key: "overLoop", title: "x the loop by hand", digits: 2 },
  ],
  plot: { kind: "bars", value: "perSecond", unit: "runs a second" },
  take: async (plan) => {
    await using stack = new AsyncDisposableStack();
    const subjects = [...(await loops(plan)), ...(await ours(plan, stack))];
    const { slices, sliceMs } = form[plan.isQuick ? "quick" : "full"];
    const rates = new Map<string, number[]>();
    const leftOut: LeftOut[] = [];
    for (const { name, run } of subjects) {
      await run().then(
        () => rates.set(name, []),
        (error: unknown) => leftOut.push({ name, reason: firstLine(error) }),
      );
    }
    for (let slice = 0; slice < slices; slice += 1) {
      for (const { name, run } of subjects) {
        const found = rates.get(name);
        if (found === undefined) continue;
        plan.say(name);
        await sustain(run, workers, sliceMs / 5);
        found.push((await sustain(run, workers, sliceMs)).perSecond);
      }
    }
    return { rows: subjects.flatMap((subject) => rowsOf(subject, rates)), leftOut };
  },
};

function rowsOf({ name, base }: Subject, rates: ReadonlyMap<string, readonly number[]>): readonly Row[] {
  const own = rates.get(name);
  if (own === undefined) return [];
  const perSecond = median(own);
  const overLoop = ratio(perSecond, median(rates.get(base) ?? []));
  return [{ name, isBaseline: name === base, values: rounded({ perSecond, overLoop }) }];
}

async function loops(plan: BenchPlan): Promise<readonly Subject[]> {
  return Promise.all(
    plan.engines.map(async (engine) => {
      const name = throughputRows.loop(engine);
      return { name, base: name, run: await programByHand("python", engine, plan) };
    }),
  );
}

async function ours(plan: BenchPlan, stack: AsyncDisposableStack): Promise<readonly Subject[]> {
  const subjects: Subject[] = [];
  for (const warmth of warmths) {
    const run = await openDoor("library", warmth, plan, stack);
    for (const engine of plan.engines) {
      const name = throughputRows.glovebox(engine, warmth);
      subjects.push({ name, base: throughputRows.loop(engine), run: () => run("python", codeOf.python, engine) });
    }
  }
  return subjects;
}
