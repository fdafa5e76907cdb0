import type { GloveboxError } from "../../errors/glovebox-error.ts";
import type { EngineName } from "../../engines/engine.ts";
import type { Isolation } from "../../policy/isolation.ts";
import type { Outcome } from "../../sandbox/outcome.ts";
import type { TestFailure } from "./report/summarise-reports.ts";
import type { TestCounts } from "./report/test-report.ts";
import type { Judgement } from "./verdict.ts";

/** Numbers of a run, and where they come from. */
export interface CountedTests {
  /**
   * `report`: the runners' reports; `output`: every test as its runner printed it, confirmed by the runner's own sums and
   * exit code; `report_file`: a file that the request names, which anything in the sandbox can write; `summary`: the last line of a runner without a report, which anything can print; null: nothing was counted.
   */
  readonly from: "report" | "output" | "report_file" | "summary" | null;
  /** Null where nothing was counted, and where a summary does not say. */
  readonly counts: { readonly [Status in keyof TestCounts]: number | null };
  readonly failures: readonly TestFailure[];
  /** Percent of lines. */
  readonly coverage: number | null;
  readonly runners: readonly string[];
  readonly ctrf: string | null;
  readonly junit: string | null;
  /** Every test, as `packReport` makes it, to be kept; null: there is no report, or too much of it. */
  readonly packed: Uint8Array | null;
}

/** What became of a test run. */
export interface TestsResult extends Judgement, CountedTests {
  readonly outcome: Outcome;
  readonly exitCode: number | null;
  /** Both streams as they came. */
  readonly output: string;
  readonly truncated: boolean;
  readonly durationMs: number;
  readonly memoryPeakBytes: number | null;
  /** Null where the engine has no images. */
  readonly image: string | null;
  /** What was run to install; null: nothing. */
  readonly setupCommand: string | null;
  /** Null where none was started. */
  readonly sandboxId: string | null;
  readonly engine: EngineName;
  readonly isolation: Isolation;
  readonly ociRuntime: string | null;
  readonly policyDigest: string | null;
  readonly warnings: readonly string[];
  readonly error: GloveboxError | null;
}

const none = { passed: null, failed: null, skipped: null, todo: null, other: null, error: null } as const;

/** Nothing was counted. */
export const uncounted: CountedTests = {
  from: null,
  counts: none,
  failures: [],
  coverage: null,
  runners: [],
  ctrf: null,
  junit: null,
  packed: null,
};
