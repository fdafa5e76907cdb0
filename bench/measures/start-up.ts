import { gloveboxCommand } from "../../test/helpers/glovebox-command.ts";
import { RawMcp } from "../../test/helpers/raw-mcp.ts";
import { serveGlovebox } from "../../test/helpers/served-glovebox.ts";
import { bareCommand, codeOf, hostInterpreters, programByHand, runFile } from "../parts/baselines.ts";
import { imageVariables } from "../parts/doors.ts";
import { timeInTurn, type Subject } from "../parts/in-turn.ts";
import type { BenchPlan, Measure } from "../parts/report.ts";
import { median, quantile, ratio, rounded } from "../parts/statistics.ts";
import { startUpRows } from "./row-names.ts";

/** From starting the command until it does what it is started for. */
export const startUpMeasure: Measure = {
  name: "start-up",
  title: "Start-up",
  how: [
    "From the start of the published command: `glovebox --version` and `glovebox run` to their end,",
    "`glovebox mcp` to its answer to `initialize`, `glovebox serve` to its first answer to a request.",
    "`docker run --rm`, `podman run --rm` and bubblewrap by hand run the same program with the same image as `glovebox run`; the bare interpreters run it, or nothing.",
  ].join(" "),
  columns: [
    { key: "medianMs", title: "median ms", digits: 0 },
    { key: "p95Ms", title: "p95 ms", digits: 0 },
    { key: "overNode", title: "x bare node", digits: 2 },
    { key: "overByHand", title: "x by hand", digits: 2 },
  ],
  plot: { kind: "bars", value: "medianMs", unit: "ms, median" },
  take: async (plan) => {
    const { timesMs, leftOut } = await timeInTurn(await subjectsOf(plan), plan.isQuick ? 3 : 30);
    const node = timesMs.get("bare node, nothing");
    const rows = [...timesMs].map(([name, times]) => {
      const engine = plan.engines.find((each) => name === startUpRows.run(each));
      const byHand = engine === undefined ? undefined : timesMs.get(startUpRows.byHand(engine));
      return {
        name,
        isBaseline: !name.startsWith("glovebox "),
        values: rounded({
          medianMs: median(times),
          p95Ms: quantile(times, 0.95),
          overNode: ratio(median(times), node && median(node)),
          overByHand: ratio(median(times), byHand && median(byHand)),
        }),
      };
    });
    return { rows, leftOut };
  },
};

async function subjectsOf(plan: BenchPlan): Promise<readonly Subject[]> {
  const [python = "", ...argv] = bareCommand("python", await hostInterpreters());
  const env = { ...process.env, ...imageVariables(plan) };
  const glovebox = (...given: readonly string[]) => runFile(gloveboxCommand, given, { env });
  let ended: Promise<unknown> = Promise.resolve();
  return [
    { name: "bare node, nothing", run: () => runFile(process.execPath, ["-e", "0"]) },
    { name: "bare python", run: () => runFile(python, argv) },
    ...(await Promise.all(
      plan.engines.map(async (engine) => ({
        name: startUpRows.byHand(engine),
        run: await programByHand("python", engine, plan),
      })),
    )),
    { name: "glovebox --version", run: () => glovebox("--version") },
    ...plan.engines.map((engine) => ({
      name: startUpRows.run(engine),
      run: () => glovebox("run", "--engine", engine, "--language", "python", "-c", codeOf.python),
    })),
    {
      name: "glovebox mcp",
      run: async () => {
        const mcp = new RawMcp([], imageVariables(plan));
        await mcp.initialize();
        mcp.child.stdin.end();
        ended = mcp.ended;
      },
      end: () => ended,
    },
    {
      name: "glovebox serve",
      run: async () => {
        const served = await serveGlovebox(imageVariables(plan));
        await (await fetch(`${served.url}/healthz`)).arrayBuffer();
        ended = Promise.resolve(served[Symbol.asyncDispose]());
      },
      end: () => ended,
    },
  ];
}
