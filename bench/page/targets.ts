import { memoryRows, rowNames, sessionRows, throughputRows } from "../measures/row-names.ts";
import { rowOf, type BenchReport, type Row } from "../parts/report.ts";
import { ratio } from "../parts/statistics.ts";

/** A figure that we aim for; no test asserts it. */
export interface Target {
  readonly what: string;
  readonly wanted: { readonly max: number } | { readonly min: number };
  readonly unit: string;
  /** Null where it was not measured. */
  readonly measured: (report: BenchReport) => number | null;
}

function value(report: BenchReport, measure: string, row: string, key: string): number | null {
  return rowOf(report, measure, row)?.values[key] ?? null;
}

const medianOf = (report: BenchReport, row: string): number | null => value(report, "execute", row, "medianMs");

/** The ratio of two medians of single executions. */
const executeRatio = (over: string, under: string) => (report: BenchReport) =>
  ratio(medianOf(report, over), medianOf(report, under));

const warmPython = (door: "library" | "http"): string => rowNames.glovebox("python", "docker", door, "warm");

export const targets: readonly Target[] = [
  {
    what: "Warm Python on docker through the library",
    wanted: { max: 6 },
    unit: "ms",
    measured: (report) => medianOf(report, warmPython("library")),
  },
  {
    what: "Warm Python on docker over HTTP",
    wanted: { max: 10 },
    unit: "ms",
    measured: (report) => medianOf(report, warmPython("http")),
  },
  {
    what: "`docker run --rm` over warm Python on docker",
    wanted: { min: 50 },
    unit: "x",
    measured: executeRatio(rowNames.dockerRun("python"), warmPython("library")),
  },
  {
    what: "Warm Python on docker over the bare interpreter",
    wanted: { max: 1 },
    unit: "x",
    measured: executeRatio(warmPython("library"), rowNames.bare("python")),
  },
  {
    what: "Warm TypeScript on docker over the bare run of the same program",
    wanted: { max: 1.5 },
    unit: "x",
    measured: executeRatio(rowNames.glovebox("typescript", "docker", "library", "warm"), rowNames.bare("typescript")),
  },
  {
    what: "Warm Python on local over the bare interpreter",
    wanted: { max: 1 },
    unit: "x",
    measured: executeRatio(rowNames.glovebox("python", "local", "library", "warm"), rowNames.bare("python")),
  },
  {
    what: "Cold Python on local over the bare interpreter",
    wanted: { max: 1.1 },
    unit: "x",
    measured: executeRatio(rowNames.glovebox("python", "local", "library", "cold"), rowNames.bare("python")),
  },
  {
    what: "A call in a session on docker, faster than `docker exec` by",
    wanted: { min: 5 },
    unit: "x",
    measured: (report) => value(report, "session", sessionRows.waiting("docker"), "timesFaster"),
  },
  {
    what: "The first line after `import pandas, matplotlib` in a session's next call on docker",
    wanted: { max: 20 },
    unit: "ms",
    measured: (report) => value(report, "session", sessionRows.imports("docker"), "medianMs"),
  },
  {
    what: "The first line after `import pandas, matplotlib` in a session's next call on local",
    wanted: { max: 20 },
    unit: "ms",
    measured: (report) => value(report, "session", sessionRows.imports("local"), "medianMs"),
  },
  {
    what: "A command in an environment on docker, faster than `docker exec` by",
    wanted: { min: 5 },
    unit: "x",
    measured: (report) => value(report, "session", sessionRows.command("docker"), "timesFaster"),
  },
  {
    what: "Fresh sandboxes a second on docker, over a plain `docker run` loop",
    wanted: { min: 1 },
    unit: "x",
    measured: (report) => best(report, "throughput", (warmth) => throughputRows.glovebox("docker", warmth), "overLoop"),
  },
  {
    what: "Fresh sandboxes a second on local",
    wanted: { min: 25 },
    unit: "a second",
    measured: (report) => best(report, "throughput", (warmth) => throughputRows.glovebox("local", warmth), "perSecond"),
  },
  {
    what: "Lost in all bursts",
    wanted: { max: 0 },
    unit: "requests",
    measured: (report) => {
      const lost = rowsOf(report, "burst").map(({ values }) => values["lost"] ?? 0);
      return lost.length === 0 ? null : lost.reduce((sum, each) => sum + each, 0);
    },
  },
  {
    what: "Median completion of the largest burst on docker over what the sustained rate predicts",
    wanted: { max: 1.2 },
    unit: "x",
    measured: (report) =>
      rowsOf(report, "burst").findLast(({ name }) => name.startsWith("docker, "))?.values["overPredicted"] ?? null,
  },
  {
    what: "Memory of the server with ten live sandboxes on docker",
    wanted: { max: 150 },
    unit: "MB",
    measured: (report) => value(report, "memory", memoryRows.live("docker", 10), "residentMb"),
  },
  {
    what: "Growth of the server since its first run, after the most runs",
    wanted: { max: 20 },
    unit: "MB",
    measured: (report) =>
      rowsOf(report, "memory").findLast(({ name }) => name.startsWith("after ") && name.endsWith(" runs"))?.values[
        "growthMb"
      ] ?? null,
  },
  {
    what: "Growth of the server during a flood of output",
    wanted: { max: 30 },
    unit: "MB",
    measured: (report) => value(report, "memory", memoryRows.flood, "growthMb"),
  },
];

function rowsOf(report: BenchReport, measure: string): readonly Row[] {
  return report.measures.find(({ name }) => name === measure)?.rows ?? [];
}

/** The warm figure if there is one: that is the server's default. */
function best(
  report: BenchReport,
  measure: string,
  row: (warmth: "cold" | "warm") => string,
  key: string,
): number | null {
  return value(report, measure, row("warm"), key) ?? value(report, measure, row("cold"), key);
}

/** Whether the target is met; null where it was not measured. */
export function isMet({ wanted, measured }: Target, report: BenchReport): boolean | null {
  const found = measured(report);
  if (found === null) return null;
  return "max" in wanted ? found <= wanted.max : found >= wanted.min;
}
