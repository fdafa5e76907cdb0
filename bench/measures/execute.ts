import { bareInterpreter, type BarePlace } from "../parts/bare-interpreter.ts";
import {
  bareCommand,
  benchLanguages,
  codeOf,
  idleContainer,
  insideInterpreters,
  programByHand,
  runFile,
  type BenchLanguage,
} from "../parts/baselines.ts";
import { doors, openDoor, type Door, type RunProgram } from "../parts/doors.ts";
import { startEmptyServer } from "../parts/empty-server.ts";
import { timeInTurn, type Subject, type Times } from "../parts/in-turn.ts";
import type { BenchPlan, Measure, Row } from "../parts/report.ts";
import { median, quantile, ratio, rounded } from "../parts/statistics.ts";
import { warmths, type Warmth } from "../parts/warmth.ts";
import { rowNames } from "./row-names.ts";

/** Removal and refilling go on in the background for this long. */
const settleMs = { cold: 60, warm: 1_000 } as const;

/** From creation to the first result: a program of one line, from the request to the whole answer. */
export const executeMeasure: Measure = {
  name: "execute",
  title: "One execution",
  how: [
    "A program that prints one number, from the request to the whole answer; one run at a time, with all subjects in turn.",
    "Cold: its sandbox is made on request. Warm: it was made in advance, and is used once.",
    "`docker run --rm`, `podman run --rm` and `docker exec` are the commands of those names with the same image and program, without a network as well; bubblewrap by hand has this machine's files, its own namespaces, and the interpreter that `local` uses.",
    "The bare interpreter is that of the image, in a container that runs already, or for `local` that of this machine; a small program beside it starts it and measures from its start to its end, so that nothing else counts. TypeScript is the same program there and here: by hand Node removes its types, in Glovebox the server compiles it.",
    "The server that does nothing shows what an HTTP request by Node's `fetch` takes here by itself.",
  ].join(" "),
  columns: [
    { key: "medianMs", title: "median ms", digits: 1 },
    { key: "p95Ms", title: "p95 ms", digits: 1 },
    { key: "overBare", title: "x bare", digits: 2 },
    { key: "overByHand", title: "x by hand", digits: 3 },
  ],
  plot: { kind: "bars", value: "medianMs", unit: "ms, median" },
  take: async (plan) => {
    await using stack = new AsyncDisposableStack();
    const times: Times[] = [];
    for (const warmth of warmths) {
      await using opened = new AsyncDisposableStack();
      const runs = new Map<Door, RunProgram>();
      for (const door of doors) runs.set(door, await openDoor(door, warmth, plan, opened));
      for (const language of benchLanguages) {
        plan.say(`${language}, ${warmth}`);
        const baselines = warmth === warmths[0] ? await baselinesOf(language, plan, stack) : [];
        const subjects = subjectsOf(language, warmth, runs, plan);
        // With the warm rows, since it pauses between two requests as they do.
        const ofHttp = language === "python" && warmth === "warm" ? [await emptyServer(opened)] : [];
        times.push(await timeInTurn([...baselines, ...ofHttp, ...subjects], plan.isQuick ? 3 : 15));
      }
    }
    const timesMs = new Map(times.flatMap((each) => [...each.timesMs]));
    return { rows: rowsOf(timesMs, plan), leftOut: times.flatMap(({ leftOut }) => leftOut) };
  },
};

async function baselinesOf(
  language: BenchLanguage,
  { engines, images }: BenchPlan,
  stack: AsyncDisposableStack,
): Promise<readonly Subject[]> {
  const baselines: Subject[] = [];
  const image = images[language];
  const engine = engines.find((each) => each !== "local");
  const places: BarePlace[] = [
    ...(engine === undefined ? [] : [{ engine, image }]),
    ...(engines.includes("local") ? (["this machine"] as const) : []),
  ];
  for (const place of places) {
    const name = rowNames.bare(language, place === "this machine" ? "local" : place.engine);
    baselines.push(await bareInterpreter(name, language, place, stack));
  }
  if (engines.includes("docker")) {
    const { name } = stack.use(await idleContainer(image));
    const inside = bareCommand(language, insideInterpreters);
    baselines.push({ name: rowNames.dockerExec(language), run: () => runFile("docker", ["exec", name, ...inside]) });
  }
  for (const each of engines) {
    baselines.push({ name: rowNames.byHand(language, each), run: await programByHand(language, each, { images }) });
  }
  return baselines;
}

async function emptyServer(stack: AsyncDisposableStack): Promise<Subject> {
  const server = stack.use(await startEmptyServer());
  const request = { language: "python", code: codeOf.python, packages: [] };
  return { name: rowNames.emptyServer, run: () => server.ask(request), settleMs: settleMs.warm };
}

function subjectsOf(
  language: BenchLanguage,
  warmth: Warmth,
  runs: ReadonlyMap<Door, RunProgram>,
  { engines }: BenchPlan,
): readonly Subject[] {
  return engines.flatMap((engine) =>
    [...runs]
      // The difference between the doors is the same for every language.
      .filter(([door]) => language === "python" || door === "library")
      .map(([door, run]) => ({
        name: rowNames.glovebox(language, engine, door, warmth),
        run: () => run(language, codeOf[language], engine),
        settleMs: settleMs[warmth],
      })),
  );
}

function rowsOf(timesMs: ReadonlyMap<string, readonly number[]>, { engines }: BenchPlan): readonly Row[] {
  const medians = new Map([...timesMs].map(([name, times]) => [name, median(times)]));
  return benchLanguages.flatMap((language) =>
    [...timesMs]
      .filter(([name]) => name.startsWith(`${language},`))
      .map(([name, times]) => {
        const engine = engines.find((each) => name.startsWith(`${language}, ${each}, `));
        const against = engine ?? baselineEngine(language, name, engines);
        return {
          name,
          isBaseline: engine === undefined,
          values: rounded({
            medianMs: median(times),
            p95Ms: quantile(times, 0.95),
            overBare: ratio(median(times), medians.get(rowNames.bare(language, against))),
            overByHand: ratio(median(times), medians.get(rowNames.byHand(language, against))),
          }),
        };
      }),
  );
}

/** The engine with which a row that is none of ours is compared. */
function baselineEngine(language: BenchLanguage, name: string, engines: readonly string[]): string {
  const own = engines.find((each) => [rowNames.bare, rowNames.byHand].some((row) => row(language, each) === name));
  return own ?? "docker";
}
