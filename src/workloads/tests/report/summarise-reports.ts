import { parseFileReport } from "./parse-file-report.ts";
import { watchedTools } from "../runner-table.ts";
import { parseReport } from "./parse-report.ts";
import {
  numbered,
  countTests,
  fullName,
  type TestCounts,
  type TestEntry,
  type TestReport,
  type TestStatus,
} from "./test-report.ts";
import { packReport, toCtrf } from "./packed-report.ts";
import { parseXml, XmlElement } from "@rgrove/parse-xml";

/** Groups in groups; beyond it nobody reads their names. */
const maxDepth = 200;

/**
 * The JUnit XML that `bun test` writes, from a sandbox: untrusted. Only the five entities of XML itself and numbers of
 * characters are known, so that nothing expands.
 * @throws Error of the parser, RangeError for what is no such report
 */
export function parseBunReport(text: string): TestReport {
  const { root } = parseXml(text);
  if (root === null || root.name !== "testsuites") throw new RangeError("no JUnit report");
  const tests: TestEntry[] = [];
  // Bun's outermost suites are its files.
  for (const file of elementsOf(root)) addSuite(file, [], tests);
  return { runner: "bun", tests, unfinished: [], coverage: null };
}

function addSuite(suite: XmlElement, names: readonly string[], tests: TestEntry[]): void {
  if (names.length > maxDepth) throw new RangeError("suites too deep");
  for (const child of elementsOf(suite)) {
    if (child.name === "testcase") tests.push(testOf(child, names));
    if (child.name === "testsuite") addSuite(child, [...names, child.attributes["name"] ?? ""], tests);
  }
}

function testOf(element: XmlElement, suite: readonly string[]): TestEntry {
  const { name = "", file = null, line, time } = element.attributes;
  const failure = elementsOf(element).find((child) => child.name === "failure" || child.name === "error");
  const place = /:(\d{1,9}):\d+/.exec(failure?.text ?? "")?.[1] ?? line;
  return {
    name,
    suite,
    status: statusOf(element),
    file,
    line: place === undefined || !/^\d{1,9}$/.test(place) ? null : Number(place),
    durationMs: time === undefined || !Number.isFinite(Number(time)) ? null : Number(time) * 1000,
    message: failure === undefined ? null : (failure.attributes["message"] ?? "").trim(),
    details: failure === undefined ? null : failure.text.trim(),
  };
}

function statusOf(element: XmlElement): TestStatus {
  for (const { name, attributes } of elementsOf(element)) {
    if (name === "failure" || name === "error") return "failed";
    if (name === "skipped") return attributes["message"] === "TODO" ? "todo" : "skipped";
  }
  return "passed";
}

function elementsOf(element: XmlElement): readonly XmlElement[] {
  return element.children.filter((child) => child instanceof XmlElement);
}

/** What wrote a report: our reporters (`glovebox`), Bun (`bun`), any tool that a request names (`file`), or a watched tool, by its name. */
export type ReportFormat = string;

/** What the child gets before the reports' bytes. */
export interface ReportsHeader {
  /** In the order in which the runners started. */
  readonly reports: readonly { readonly format: ReportFormat; readonly sizeBytes: number }[];
  /** The project's folder inside. */
  readonly folder: string;
  readonly wanted: { readonly ctrf: boolean; readonly junit: boolean };
  readonly startMs: number;
  readonly stopMs: number;
}

/** A test that failed or could not be run. */
export interface TestFailure {
  readonly name: string;
  readonly file: string | null;
  readonly line: number | null;
  readonly message: string;
  readonly details: string;
}

/** What one start of a runner counts, and what began in it without reporting its end. */
export interface ReportedRun {
  readonly runner: string;
  readonly counts: TestCounts;
  readonly unfinished: readonly string[];
}

/** What the child answers before the requested texts. */
export interface ReportsSummary {
  readonly runs: readonly ReportedRun[];
  /** The first ones. */
  readonly failures: readonly TestFailure[];
  readonly coverage: number | null;
  /** Bytes of each text, which follow in this order; null: not requested. */
  readonly ctrfBytes: number | null;
  readonly junitBytes: number | null;
  /** As `packReport` makes it; null: too much to be kept. */
  readonly packedBytes: number | null;
}

/** Maximum failures in an answer; the whole report has all of them. */
export const maxFailures = 100;

/** Characters of one failure; our reporters respect this, others need not. */
const maxText = { name: 4_096, message: 4_096, details: 16_384 };

const parsers: Readonly<Record<ReportFormat, (text: string, folder: string) => TestReport>> = {
  glovebox: parseReport,
  bun: parseBunReport,
  file: parseFileReport,
  ...Object.fromEntries(watchedTools.map(({ name, tool }) => [name, tool.parse])),
};

/** Reads all reports of a run and gives their result: pure, for a process that hostile input may end. */
export function summariseReports(
  header: ReportsHeader,
  texts: readonly string[],
): { readonly summary: ReportsSummary; readonly ctrf: string; readonly junit: string; readonly packed: Uint8Array } {
  const reports = header.reports.map(({ format }, index) => parserOf(format)(texts[index] ?? "", header.folder));
  const { wanted } = header;
  const ctrf = wanted.ctrf ? toCtrf(reports, header) : "";
  const junit = wanted.junit ? toJunit(reports) : "";
  const packed = packReport(reports, header);
  const failed = reports.flatMap(({ tests }) =>
    tests.filter(({ status }) => status === "failed" || status === "error"),
  );
  const summary = {
    runs: reports.map(({ runner, tests, unfinished }) => ({
      runner,
      counts: countTests(tests),
      unfinished: unfinished.map((name) => name.slice(0, maxText.name)),
    })),
    failures: withOwnNames(failed.slice(0, maxFailures).map(toFailure)),
    coverage: reports.find(({ coverage }) => coverage !== null)?.coverage ?? null,
    ctrfBytes: wanted.ctrf ? Buffer.byteLength(ctrf) : null,
    junitBytes: wanted.junit ? Buffer.byteLength(junit) : null,
    packedBytes: packed?.length ?? null,
  };
  return { summary, ctrf, junit, packed: packed ?? new Uint8Array() };
}

function parserOf(format: ReportFormat): (text: string, folder: string) => TestReport {
  const parse = parsers[format];
  if (parse === undefined) throw new RangeError(`no reports of ${format}`);
  return parse;
}

/** Tests of several files, and failures of one test, can have one name: the second is called `name #2`. */
function withOwnNames(failures: readonly TestFailure[]): readonly TestFailure[] {
  const taken = new Set<string>();
  return failures.map((failure) => {
    let { name } = failure;
    for (let time = 2; taken.has(name); time++) name = numbered(failure.name, time);
    taken.add(name);
    return { ...failure, name };
  });
}

function toFailure(test: TestEntry): TestFailure {
  const { file, line, message, details } = test;
  return {
    name: fullName(test).slice(0, maxText.name),
    file: file === null ? null : file.slice(0, maxText.name),
    line,
    message: (message ?? "").slice(0, maxText.message),
    details: (details ?? "").slice(0, maxText.details),
  };
}

/** All tests as JUnit XML: a suite for each file, the groups of a test in its `classname`. */
export function toJunit(reports: readonly TestReport[]): string {
  const tests = reports.flatMap((report) => report.tests);
  const files = Map.groupBy(tests, ({ file }) => file ?? "");
  const suites = [...files].map(
    ([file, entries]) =>
      `  <testsuite name="${escape(file)}" ${totals(entries)}>\n${entries.map(testCase).join("")}  </testsuite>\n`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites ${totals(tests)}>\n${suites.join("")}</testsuites>\n`;
}

function totals(tests: readonly TestEntry[]): string {
  const { failed, error, skipped, todo, other } = countTests(tests);
  const time = tests.reduce((sum, { durationMs }) => sum + (durationMs ?? 0), 0) / 1000;
  const numbers = { tests: tests.length, failures: failed, errors: error, skipped: skipped + todo + other };
  return `${Object.entries(numbers)
    .map(([name, count]) => `${name}="${count}"`)
    .join(" ")} time="${time.toFixed(3)}"`;
}

function testCase({ name, suite, status, file, line, durationMs, message, details }: TestEntry): string {
  const place = `${file === null ? "" : ` file="${escape(file)}"`}${line === null ? "" : ` line="${line}"`}`;
  const start = `    <testcase name="${escape(name)}" classname="${escape(suite.join(" > "))}" time="${((durationMs ?? 0) / 1000).toFixed(3)}"${place}`;
  if (status === "passed") return `${start}/>\n`;
  if (status === "failed" || status === "error") {
    const kind = status === "failed" ? "failure" : "error";
    return `${start}><${kind} message="${escape(message ?? "")}">${escape(details ?? "")}</${kind}></testcase>\n`;
  }
  return `${start}><skipped message="${status}"/></testcase>\n`;
}

const entities: Readonly<Record<string, string>> = {
  "<": "&lt;",
  ">": "&gt;",
  "&": "&amp;",
  '"': "&quot;",
  "'": "&apos;",
};

// What XML cannot hold, and reads as other characters.
// oxlint-disable-next-line no-control-regex
const forbidden = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

/** Text in XML; characters that XML cannot hold become U+FFFD, line ends and tabs are kept in attributes too. */
function escape(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/[<>&"']/g, (character) => entities[character] ?? character)
    .replaceAll(/[\t\n\r]/g, (character) => `&#${character.codePointAt(0)};`)
    .replaceAll(forbidden, "\ufffd");
}
