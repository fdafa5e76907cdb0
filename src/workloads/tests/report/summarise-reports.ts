import { parseXml, XmlElement } from "@rgrove/parse-xml";
import {
  relativeTo,
  parseReport,
  numbered,
  countTests,
  fullName,
  type TestEntry,
  type TestReport,
  type TestStatus,
  type TestCounts,
} from "./test-report.ts";
import { watchedTools } from "../runner-table.ts";
import { packReport, toCtrf } from "./packed-report.ts";

/** Tests of one file. */
const maxTests = 500_000;

/**
 * A report in JUnit XML or in the Common Test Report Format, as any tool writes it: untrusted. Of XML only the five entities
 * of XML itself and numbers of characters are known, so that nothing expands.
 * @throws Error of the parser, RangeError for what is no such report
 */
export function parseFileReport(text: string, folder: string): TestReport {
  const report = text.trimStart().startsWith("{") ? readCtrf(text, folder) : readJunit(text, folder);
  if (report.tests.length > maxTests) throw new RangeError(`more than ${maxTests} tests`);
  return report;
}

interface Place {
  readonly suite: readonly string[];
  readonly folder: string;
  readonly file: string | null;
}

const statuses: Readonly<Record<string, TestStatus>> = {
  passed: "passed",
  failed: "failed",
  skipped: "skipped",
  pending: "todo",
  other: "other",
};

type Fields = Readonly<Record<string, unknown>>;

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

function readJunit(text: string, folder: string): TestReport {
  const { root } = parseXml(text.replace(/^\uFEFF/, ""));
  if (root === null || !/^testsuites?$/.test(root.name)) throw new RangeError("no JUnit report");
  const tests: TestEntry[] = [];
  const { name = "", file = null } = root.name === "testsuite" ? root.attributes : {};
  addElements(root, { suite: name === "" ? [] : [name], folder, file }, tests);
  return { runner: "junit", tests, unfinished: [], coverage: null };
}

function addElements(element: XmlElement, place: Place, tests: TestEntry[]): void {
  if (place.suite.length > maxDepth) throw new RangeError("suites too deep");
  for (const child of childrenOf(element)) {
    if (child.name === "testcase") tests.push(caseOf(child, place));
    if (child.name !== "testsuite") continue;
    const { name = "", file = place.file } = child.attributes;
    addElements(child, { ...place, suite: name === "" ? place.suite : [...place.suite, name], file }, tests);
  }
}

function caseOf(element: XmlElement, place: Place): TestEntry {
  const { name = "", classname = "", file = place.file, line, time } = element.attributes;
  const children = childrenOf(element);
  const bad = children.find((child) => child.name === "failure" || child.name === "error");
  const isSkipped = children.some((child) => child.name === "skipped");
  const status = bad === undefined ? (isSkipped ? "skipped" : "passed") : bad.name === "error" ? "error" : "failed";
  const seconds = Number(time);
  return {
    name,
    suite: classname === "" ? place.suite : [classname],
    status,
    file: file === null ? null : relativeTo(place.folder, file),
    line: line === undefined || !/^\d{1,9}$/.test(line) ? null : Number(line),
    durationMs: time === undefined || !(seconds >= 0) ? null : seconds * 1000,
    message: bad === undefined ? null : (bad.attributes["message"] ?? bad.text.trim().split("\n")[0] ?? "").trim(),
    details: bad === undefined ? null : bad.text.trim(),
  };
}

function childrenOf(element: XmlElement): readonly XmlElement[] {
  return element.children.filter((child) => child instanceof XmlElement);
}

function readCtrf(text: string, folder: string): TestReport {
  const { tool, tests } = fieldsOf(fieldsOf(JSON.parse(text))["results"]);
  const { name } = fieldsOf(tool);
  if (!Array.isArray(tests)) throw new RangeError("no CTRF report");
  return {
    runner: typeof name === "string" ? name : "ctrf",
    tests: tests.map((test) => testOfEntry(test, folder)),
    unfinished: [],
    coverage: null,
  };
}

function testOfEntry(value: unknown, folder: string): TestEntry {
  const { name, suite, status, filePath, line, duration, message, trace } = fieldsOf(value);
  const known = typeof status === "string" ? statuses[status] : undefined;
  if (typeof name !== "string" || known === undefined) throw new RangeError("no test");
  const groups: readonly unknown[] = Array.isArray(suite) ? suite : [suite];
  const isBad = known === "failed";
  return {
    name,
    suite: groups.filter((group) => typeof group === "string"),
    status: known,
    file: typeof filePath === "string" ? relativeTo(folder, filePath) : null,
    line: typeof line === "number" && Number.isSafeInteger(line) && line >= 0 ? line : null,
    durationMs: typeof duration === "number" && duration >= 0 ? duration : null,
    message: isBad && typeof message === "string" ? message : null,
    details: isBad && typeof trace === "string" ? trace : null,
  };
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

function addSuite(suite: XmlElement, names: readonly string[], tests: TestEntry[]): void {
  if (names.length > maxDepth) throw new RangeError("suites too deep");
  for (const child of elementsOf(suite)) {
    if (child.name === "testcase") tests.push(testOfElement(child, names));
    if (child.name === "testsuite") addSuite(child, [...names, child.attributes["name"] ?? ""], tests);
  }
}

function testOfElement(element: XmlElement, suite: readonly string[]): TestEntry {
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
