import { fileURLToPath } from "node:url";
import { mebibyte } from "../../../base/bytes.ts";
import { runLimitedChild } from "../../../base/limited-child.ts";
import { maxPackedBytes } from "./packed-report.ts";
import { testStatuses, type TestCounts, type TestStatus } from "./test-report.ts";
import type { ReportFormat, ReportsHeader, ReportsSummary, TestFailure } from "./summarise-reports.ts";
import type { Kit } from "../../../base/kit.ts";

/** A report as it came out of the sandbox. */
export interface RawReport {
  readonly format: ReportFormat;
  readonly bytes: Uint8Array;
}

export interface ReadReportsOptions extends Omit<ReportsHeader, "reports">, Pick<Kit, "platform" | "executable"> {
  readonly signal?: AbortSignal | undefined;
}

/** The result of all reports of a run. */
export interface ReadReports extends Omit<ReportsSummary, "ctrfBytes" | "junitBytes" | "packedBytes"> {
  readonly ctrf: string | null;
  readonly junit: string | null;
  /** As `packReport` makes it; null: too much to be kept. */
  readonly packed: Uint8Array | null;
}

/** Bytes of all reports of a run together: 63,740 tests take about 20 MB. */
export const maxReportBytes: number = 64 * mebibyte;
const maxOutputBytes = 192 * mebibyte;
const timeLimitMs = 60_000;
const heapMegabytes = 1_024;
/** Address space; Node reserves about 1.5 GiB of it at the start. */
const addressSpaceBytes = 4_096 * mebibyte;

/**
 * Reads reports in a process of its own, limited in time, memory and output, which can touch nothing.
 * @returns null for what is no report of these formats, or too much for the limits
 * @throws CANCELLED
 */
export async function readReports(
  reports: readonly RawReport[],
  { signal, executable, platform, ...header }: ReadReportsOptions,
): Promise<ReadReports | null> {
  const sized = reports.map(({ format, bytes }) => ({ format, sizeBytes: bytes.length }));
  const first = JSON.stringify({ ...header, reports: sized } satisfies ReportsHeader);
  const { exitCode, timedOut, stdout } = await runLimitedChild(
    {
      name: "The reader of test reports",
      command: [executable, ...flags, script()],
      environment: {},
      platform,
      input: Buffer.concat([Buffer.from(`${first}\n`), ...reports.map(({ bytes }) => bytes)]),
      timeLimitMs,
      memoryLimitBytes: addressSpaceBytes,
      maxOutputBytes,
    },
    signal,
  );
  return timedOut || exitCode !== 0 ? null : believe(Buffer.from(stdout));
}

const flags = [
  ...[`--max-old-space-size=${heapMegabytes}`, "--disallow-code-generation-from-strings", "--no-warnings"],
  // It reads its own files and the parser's, wherever those are installed, and has nothing to write or start.
  ...["--permission", "--allow-fs-read=*"],
];

function script(): string {
  const isSource = import.meta.url.endsWith(".ts");
  return fileURLToPath(new URL(isSource ? "./read-main.ts" : "./read-main.js", import.meta.url));
}

type Fields = Readonly<Record<string, unknown>>;

/** The process has read hostile text: only values of the right kind are accepted from it. */
function believe(stdout: Buffer): ReadReports | null {
  const end = stdout.indexOf(10);
  if (end < 0) return null;
  const { runs, failures, coverage, ctrfBytes, junitBytes, packedBytes } = fieldsOf(
    JSON.parse(stdout.toString("utf8", 0, end)),
  );
  let at = end + 1;
  const part = (size: unknown): Buffer | null => (typeof size === "number" ? stdout.subarray(at, (at += size)) : null);
  const [ctrf, junit, packed] = [part(ctrfBytes), part(junitBytes), part(packedBytes)];
  return {
    runs: listOf(runs).map(({ runner, counts, unfinished }) => ({
      runner: textOf(runner).slice(0, 100),
      counts: countsOf(counts),
      unfinished: Array.isArray(unfinished) ? unfinished.map(textOf) : [],
    })),
    failures: listOf(failures).map(failureOf),
    coverage: typeof coverage === "number" ? coverage : null,
    ctrf: ctrf?.toString("utf8") ?? null,
    junit: junit?.toString("utf8") ?? null,
    packed: packed === null || packed.length > maxPackedBytes ? null : Uint8Array.from(packed),
  };
}

function countsOf(value: unknown): TestCounts {
  const counts = fieldsOf(value);
  return Object.fromEntries(testStatuses.map((status) => [status, wholeOf(counts[status])])) as Record<
    TestStatus,
    number
  >;
}

function failureOf({ name, file, line, message, details }: Fields): TestFailure {
  return {
    name: textOf(name),
    file: typeof file === "string" ? file : null,
    line: typeof line === "number" ? line : null,
    message: textOf(message),
    details: textOf(details),
  };
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : [];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function wholeOf(value: unknown): number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : 0;
}
