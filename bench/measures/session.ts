import { setTimeout as sleep } from "node:timers/promises";
import { createGlovebox, type Environment, type Glovebox, type Session } from "../../src/index.ts";
import { pythonIndex } from "../../test/helpers/python-index.ts";
import { bareCommand, codeOf, idleContainer, insideInterpreters, runFile } from "../parts/baselines.ts";
import { timeInTurn, type Subject } from "../parts/in-turn.ts";
import type { BenchPlan, LeftOut, Measure, Row } from "../parts/report.ts";
import { median, ratio, rounded } from "../parts/statistics.ts";
import { importingCallsOn } from "./importing-calls.ts";
import { sessionRows } from "./row-names.ts";

/** Time between two calls, during which the next interpreter, or the next command's shell, starts. */
const pauseMs = 500;
const command = ["echo", "1"] as const;
const pythonCommand = bareCommand("python", insideInterpreters);
const rounds = { quick: 3, full: 15, fullImports: 5 } as const;

/** Calls in a place whose files persist. */
export const sessionMeasure: Measure = {
  name: "session",
  title: "A call in a session or an environment",
  how: [
    "A Python program of one line in an open session, with half a second between two calls.",
    "Waiting: the previous call was Python too, so the next interpreter has already started. Fresh: the previous call was in another language.",
    "`docker exec` runs the same program in a running container of the same image; a command in an environment (`echo 1`) has a `docker exec` of its own.",
    "First line: of a program that imports pandas and matplotlib, as the previous call did three seconds earlier.",
  ].join(" "),
  columns: [
    { key: "medianMs", title: "median ms", digits: 1 },
    { key: "overExec", title: "x docker exec", digits: 3 },
  ],
  plot: { kind: "bars", value: "medianMs", unit: "ms, median" },
  take: async (plan) => {
    await using stack = new AsyncDisposableStack();
    const index = pythonIndex();
    const network = { private_hosts: [...index.fileHosts] };
    const glovebox = stack.use(await createGlovebox({ settings: { images: plan.images, network } }));
    const groups = [
      {
        exec: sessionRows.dockerExec,
        subjects: [
          ...(await dockerExec(sessionRows.dockerExec, pythonCommand, plan.images.session, plan, stack)),
          ...plan.engines.flatMap((engine) => callsOn(engine, glovebox)),
        ],
        rounds: rounds[plan.isQuick ? "quick" : "full"],
      },
      {
        exec: sessionRows.dockerExecCommand,
        subjects: [
          ...(await dockerExec(sessionRows.dockerExecCommand, command, plan.images.python, plan, stack)),
          ...plan.engines.filter(hasImages).map((engine) => commandsOn(engine, glovebox, plan)),
        ],
        rounds: rounds[plan.isQuick ? "quick" : "full"],
      },
      {
        exec: null,
        subjects: index.fault === null ? plan.engines.map((engine) => importingCallsOn(engine, glovebox, plan)) : [],
        rounds: rounds[plan.isQuick ? "quick" : "fullImports"],
      },
    ];
    const rows: Row[] = [];
    const missing: LeftOut[] = [];
    if (index.fault !== null) missing.push({ name: "first lines after imports", reason: "no Python index answers" });
    for (const { exec, subjects, rounds: count } of groups) {
      const { timesMs, leftOut } = await timeInTurn(subjects, count);
      const ofExec = exec === null ? undefined : timesMs.get(exec);
      missing.push(...leftOut);
      for (const [name, times] of timesMs) {
        const overExec = ofExec ? ratio(median(times), median(ofExec)) : null;
        rows.push({ name, isBaseline: name === exec, values: rounded({ medianMs: median(times), overExec }) });
      }
    }
    return { rows, leftOut: missing };
  },
};

/** Environments have images, which the embedded engine has not. */
function hasImages(engine: string): boolean {
  return engine !== "local";
}

async function dockerExec(
  row: string,
  inside: readonly string[],
  image: string,
  { engines }: BenchPlan,
  stack: AsyncDisposableStack,
): Promise<readonly Subject[]> {
  if (!engines.includes("docker")) return [];
  const { name } = stack.use(await idleContainer(image));
  return [{ name: row, run: () => runFile("docker", ["exec", name, ...inside]) }];
}

/** The call before each one decides which kind it is; that call is not timed. */
function callsOn(engine: string, glovebox: Glovebox): readonly Subject[] {
  let session: Session | undefined;
  const call = async (language: "python" | "typescript"): Promise<void> => {
    session ??= await glovebox.sessions.open({ engine });
    const { outcome } = await session.run({ language, code: codeOf[language], packages: [] });
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

function commandsOn(engine: string, glovebox: Glovebox, { images }: BenchPlan): Subject {
  let environment: Environment | undefined;
  return {
    name: sessionRows.command(engine),
    run: async () => {
      environment ??= await glovebox.environments.create({ engine, image: images.python });
      const { outcome } = await environment.run(command);
      if (outcome !== "completed") throw new Error(`The command ended as ${outcome}.`);
    },
    settleMs: pauseMs,
  };
}
