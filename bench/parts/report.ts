/** The results of one run of the benchmarks, as they are kept in JSON. */
export interface BenchReport {
  readonly form: "quick" | "full";
  /** Date of the run, such as 2026-11-23. */
  readonly date: string;
  readonly machine: Machine;
  readonly versions: Readonly<Record<string, string>>;
  readonly measures: readonly Measured[];
}

export interface Circumstances {
  readonly date: string;
  readonly machine: Machine;
  /** Processes that wanted a processor when it began, over five minutes: other work on the machine. */
  readonly load: number;
}

export interface Machine {
  readonly system: string;
  readonly processor: string;
  readonly cores: number;
  readonly memoryGb: number;
}

/** One measure and its figures. */
export interface Measured extends MeasureFacts {
  /** When and where, if it was not with the others. */
  readonly apart?: Circumstances | undefined;
  readonly rows: readonly Row[];
  readonly leftOut: readonly LeftOut[];
}

export interface MeasureFacts {
  /** Also the name of its plot. */
  readonly name: string;
  readonly title: string;
  /** What was measured, in a few sentences. */
  readonly how: string;
  readonly columns: readonly Column[];
  readonly plot: Plot;
}

export interface Column {
  readonly key: string;
  readonly title: string;
  /** Digits after the decimal point; default 0. */
  readonly digits?: number | undefined;
}

/** Bars of one column for each row; or, for rows with `series`, lines of one column over another. */
export type Plot =
  | { readonly kind: "bars"; readonly value: string; readonly unit: string }
  | { readonly kind: "lines"; readonly x: string; readonly value: string; readonly unit: string };

export interface Row {
  readonly name: string;
  /** Whether this is what Glovebox is compared with. */
  readonly isBaseline?: boolean | undefined;
  /** The line of the plot that this point belongs to. */
  readonly series?: string | undefined;
  /** By column key; null: there is nothing to compare with. */
  readonly values: Readonly<Record<string, number | null>>;
}

/** What could not be measured here. */
export interface LeftOut {
  readonly name: string;
  readonly reason: string;
}

/** The results of a measure. */
export interface Findings {
  readonly rows: readonly Row[];
  readonly leftOut: readonly LeftOut[];
}

/** How the measures are taken. */
export interface BenchPlan {
  readonly isQuick: boolean;
  readonly engines: readonly string[];
  /** The settings `images`: what the engines here have. */
  readonly images: Readonly<Record<"python" | "javascript" | "typescript" | "session", string>>;
  /** Reports progress to people. */
  readonly say: (text: string) => void;
}

export interface Measure extends MeasureFacts {
  readonly take: (plan: BenchPlan) => Promise<Findings>;
}

/** The row of that name; undefined if it was not measured. */
export function rowOf(report: BenchReport, measure: string, row: string): Row | undefined {
  return report.measures.find(({ name }) => name === measure)?.rows.find(({ name }) => name === row);
}
