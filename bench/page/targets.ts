import {
  clusterRows,
  memoryRows,
  projectRows,
  rowNames,
  scaleRow,
  sessionRows,
  startUpRows,
  throughputRows,
} from "../measures/row-names.ts";
import type { BenchLanguage } from "../parts/baselines.ts";
import { rowOf, type BenchReport, type Row } from "../parts/report.ts";
import { ratio } from "../parts/statistics.ts";

/** A figure that we aim for; no test asserts it. */
export interface Target {
  readonly what: string;
  readonly wanted: { readonly max: number } | { readonly min: number };
  readonly unit: string;
  /** Name of the measure whose rows decide it. */
  readonly measure: string;
  /** Null where it was not measured. */
  readonly measured: (report: BenchReport) => number | null;
}

function value(report: BenchReport, measure: string, row: string, key: string): number | null {
  return rowOf(report, measure, row)?.values[key] ?? null;
}

/** A target for one value of one row. */
function ofRow(measure: string, row: string, key: string, target: Pick<Target, "what" | "wanted" | "unit">): Target {
  return { ...target, measure, measured: (report) => value(report, measure, row, key) };
}

const medianOf = (report: BenchReport, row: string): number | null => value(report, "execute", row, "medianMs");

/** A target for the ratio of two medians of single executions. */
function ofExecutions(what: string, max: number, over: string, under: string): Target {
  return {
    what,
    wanted: { max },
    unit: "x",
    measure: "execute",
    measured: (report) => ratio(medianOf(report, over), medianOf(report, under)),
  };
}

const library = (language: BenchLanguage, engine: string, warmth: "cold" | "warm"): string =>
  rowNames.glovebox(language, engine, "library", warmth);

const liveEngines = ["docker", "podman", "local"] as const;

/** The highest value among these rows; null unless all were measured. */
function highest(report: BenchReport, measure: string, rows: readonly string[], key: string): number | null {
  const values = rows.map((row) => value(report, measure, row, key)).filter((each) => each !== null);
  return values.length < rows.length ? null : Math.max(...values);
}

export const targets: readonly Target[] = [
  ofExecutions(
    "Warm Python on docker through the library over the image's bare interpreter",
    1,
    library("python", "docker", "warm"),
    rowNames.bare("python", "docker"),
  ),
  {
    what: "What HTTP adds to that",
    wanted: { max: 4 },
    unit: "ms",
    measure: "execute",
    measured: (report) => {
      const http = medianOf(report, rowNames.glovebox("python", "docker", "http", "warm"));
      const own = medianOf(report, library("python", "docker", "warm"));
      // Of figures that were taken before the bare interpreter was the image's, neither is compared.
      const bare = medianOf(report, rowNames.bare("python", "docker"));
      return http === null || own === null || bare === null ? null : http - own;
    },
  },
  ofExecutions(
    "Warm Python on podman over warm Python on docker",
    1.3,
    library("python", "podman", "warm"),
    library("python", "docker", "warm"),
  ),
  ofExecutions(
    "Warm TypeScript on docker over the image's bare interpreter with the same program",
    1,
    library("typescript", "docker", "warm"),
    rowNames.bare("typescript", "docker"),
  ),
  ofExecutions(
    "Warm Python on local over this machine's bare interpreter",
    0.7,
    library("python", "local", "warm"),
    rowNames.bare("python", "local"),
  ),
  ofExecutions(
    "Cold Python on docker over `docker run --rm`",
    0.75,
    library("python", "docker", "cold"),
    rowNames.byHand("python", "docker"),
  ),
  ofExecutions(
    "Cold Python on podman over `podman run --rm`",
    0.75,
    library("python", "podman", "cold"),
    rowNames.byHand("python", "podman"),
  ),
  ofExecutions(
    "Cold Python on local over bubblewrap by hand",
    1.8,
    library("python", "local", "cold"),
    rowNames.byHand("python", "local"),
  ),
  ofRow("session", sessionRows.waiting("docker"), "overExec", {
    what: "A call in a session on docker, its interpreter waiting, over `docker exec`",
    wanted: { max: 0.12 },
    unit: "x",
  }),
  ofRow("session", sessionRows.command("docker"), "overExec", {
    what: "A command in an environment on docker over `docker exec`",
    wanted: { max: 0.08 },
    unit: "x",
  }),
  ofRow("session", sessionRows.imports("docker"), "medianMs", {
    what: "The first line after `import pandas, matplotlib` in a session's next call on docker",
    wanted: { max: 20 },
    unit: "ms",
  }),
  ofRow("session", sessionRows.imports("local"), "medianMs", {
    what: "The first line after `import pandas, matplotlib` in a session's next call on local",
    wanted: { max: 20 },
    unit: "ms",
  }),
  ofRow("throughput", throughputRows.glovebox("docker", "cold"), "overLoop", {
    what: "Fresh sandboxes a second on docker, cold, over a plain `docker run` loop",
    wanted: { min: 1.2 },
    unit: "x",
  }),
  {
    what: "Fresh sandboxes a second on local",
    wanted: { min: 25 },
    unit: "a second",
    measure: "throughput",
    // The warm figure if there is one: that is the server's default.
    measured: (report) =>
      value(report, "throughput", throughputRows.glovebox("local", "warm"), "perSecond") ??
      value(report, "throughput", throughputRows.glovebox("local", "cold"), "perSecond"),
  },
  ofRow("start-up", startUpRows.run("docker"), "overByHand", {
    what: "`glovebox run --engine docker` over `docker run --rm`",
    wanted: { max: 1.3 },
    unit: "x",
  }),
  {
    what: "Idle use of the server with 50 live sandboxes, on the engine where it is highest",
    wanted: { max: 3 },
    unit: "% of a core",
    measure: "scale",
    measured: (report) =>
      highest(
        report,
        "scale",
        liveEngines.map((engine) => scaleRow(engine, 50)),
        "cpuPercent",
      ),
  },
  {
    what: "A list of 50 live sandboxes, on the engine where it takes longest",
    wanted: { max: 15 },
    unit: "ms",
    measure: "scale",
    measured: (report) =>
      highest(
        report,
        "scale",
        liveEngines.map((engine) => scaleRow(engine, 50)),
        "listMs",
      ),
  },
  ofRow("scale", scaleRow("memory", 1_000), "listMs", {
    what: "A list of 1,000 simulated sandboxes",
    wanted: { max: 30 },
    unit: "ms",
  }),
  ofRow("tests", projectRows.glovebox("docker"), "overByHand", {
    what: "A project's tests on docker over the same command by hand",
    wanted: { max: 1.5 },
    unit: "x",
  }),
  ofRow("previews", projectRows.glovebox("docker"), "overByHand", {
    what: "The first byte of a preview on docker over the same server by hand",
    wanted: { max: 1.5 },
    unit: "x",
  }),
  {
    what: "Lost in all bursts",
    wanted: { max: 0 },
    unit: "requests",
    measure: "burst",
    measured: (report) => {
      const lost = rowsOf(report, "burst").map(({ values }) => values["lost"] ?? 0);
      return lost.length === 0 ? null : lost.reduce((sum, each) => sum + each, 0);
    },
  },
  {
    what: "Median completion of the largest burst on docker over what the sustained rate predicts",
    wanted: { max: 1.2 },
    unit: "x",
    measure: "burst",
    measured: (report) =>
      rowsOf(report, "burst").findLast(({ name }) => name.startsWith("docker, "))?.values["overPredicted"] ?? null,
  },
  ofRow("memory", memoryRows.live("docker", 10), "residentMb", {
    what: "Memory of the server with ten live sandboxes on docker",
    wanted: { max: 150 },
    unit: "MB",
  }),
  {
    what: "Growth of the server since its first run, after the most runs",
    wanted: { max: 20 },
    unit: "MB",
    measure: "memory",
    measured: (report) =>
      rowsOf(report, "memory").findLast(({ name }) => name.startsWith("after ") && name.endsWith(" runs"))?.values[
        "growthMb"
      ] ?? null,
  },
  ofRow("memory", memoryRows.flood, "growthMb", {
    what: "Growth of the server during a flood of output",
    wanted: { max: 30 },
    unit: "MB",
  }),
  {
    what: "Warm Python in a pod over warm Python in a container of docker",
    wanted: { max: 3 },
    unit: "ms more",
    measure: "kubernetes",
    measured: (report) => {
      const [pod, docker] = ["kubernetes", "docker"].map((engine) =>
        value(report, "kubernetes", clusterRows.run(engine, "warm"), "medianMs"),
      );
      return typeof pod === "number" && typeof docker === "number" ? pod - docker : null;
    },
  },
];

function rowsOf(report: BenchReport, measure: string): readonly Row[] {
  return report.measures.find(({ name }) => name === measure)?.rows ?? [];
}

/** Whether the target is met; null where it was not measured. */
export function isMet({ wanted, measured }: Target, report: BenchReport): boolean | null {
  const found = measured(report);
  if (found === null) return null;
  return "max" in wanted ? found <= wanted.max : found >= wanted.min;
}
