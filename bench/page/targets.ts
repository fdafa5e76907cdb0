import { rowNames } from "../measures/row-names.ts";
import { rowOf, type BenchReport } from "../parts/report.ts";
import { ratio } from "../parts/statistics.ts";

/** A figure that is aimed at; no test asserts it. */
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

/** The quotient of two medians of single executions. */
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
];

/** Whether the target is met; null where it was not measured. */
export function isMet({ wanted, measured }: Target, report: BenchReport): boolean | null {
  const found = measured(report);
  if (found === null) return null;
  return "max" in wanted ? found <= wanted.max : found >= wanted.min;
}
