import { setTimeout as sleep } from "node:timers/promises";
import { createGlovebox, type Glovebox, type Session } from "../../src/index.ts";
import { bareCommand, idleContainer, insideInterpreters, runFile } from "../parts/baselines.ts";
import { timeInTurn, type Subject } from "../parts/in-turn.ts";
import type { BenchPlan, Measure, Row } from "../parts/report.ts";
import { median, ratio, rounded } from "../parts/statistics.ts";
import { sessionRows } from "./row-names.ts";

/** Time between two calls, during which the next interpreter starts. */
const pauseMs = 500;

/** Calls in a place whose files persist. */
export const sessionMeasure: Measure = {
  name: "session",
  title: "A call in a session",
  how: [
    "A Python program of one line in an open session, with half a second between two calls.",
    "Waiting: the previous call was Python too, so the next interpreter has already started. Fresh: the previous call was in another language.",
    "`docker exec` runs the same program in a running container.",
  ].join(" "),
  columns: [
    { key: "medianMs", title: "median ms", digits: 1 },
    { key: "timesFaster", title: "x faster than docker exec", digits: 1 },
  ],
  plot: { kind: "bars", value: "medianMs", unit: "ms, median" },
  take: async (plan) => {
    await using stack = new AsyncDisposableStack();
    const glovebox = stack.use(await createGlovebox({ settings: { images: plan.images } }));
    const subjects = [
      ...(plan.engines.includes("docker") ? [await dockerExec(plan, stack)] : []),
      ...plan.engines.flatMap((engine) => callsOn(engine, glovebox)),
    ];
    const { timesMs, leftOut } = await timeInTurn(subjects, plan.isQuick ? 3 : 30);
    const exec = timesMs.get(sessionRows.dockerExec);
    const rows = [...timesMs].map(([name, times]): Row => ({
      name,
      isBaseline: name === sessionRows.dockerExec,
      values: rounded({ medianMs: median(times), timesFaster: exec ? ratio(median(exec), median(times)) : null }),
    }));
    return { rows, leftOut };
  },
};

async function dockerExec({ images }: BenchPlan, stack: AsyncDisposableStack): Promise<Subject> {
  const { name } = stack.use(await idleContainer(images.python));
  const inside = bareCommand("python", insideInterpreters);
  return { name: sessionRows.dockerExec, run: () => runFile("docker", ["exec", name, ...inside]) };
}

/** The call before each one decides which kind it is; that call is not timed. */
function callsOn(engine: string, glovebox: Glovebox): readonly Subject[] {
  let session: Session | undefined;
  const call = async (language: "python" | "typescript"): Promise<void> => {
    session ??= await glovebox.sessions.open({ engine });
    const code = language === "python" ? "print(1)" : "console.log(1)";
    const { outcome } = await session.run({ language, code, packages: [] });
    if (outcome !== "completed") throw new Error(`The call ended as ${outcome}.`);
  };
  const python = (): Promise<void> => call("python");
  const before = async (language: "python" | "typescript"): Promise<void> => {
    await call(language);
    await sleep(pauseMs);
  };
  return [
    { name: sessionRows.fresh(engine), prepare: () => before("typescript"), run: python, settleMs: pauseMs },
    { name: sessionRows.waiting(engine), prepare: () => before("python"), run: python, settleMs: pauseMs },
  ];
}
