import { parseXml, XmlElement } from "@rgrove/parse-xml";
import { relativeTo } from "./parse-report.ts";
import type { TestEntry, TestReport, TestStatus } from "./test-report.ts";

/** Tests of one file, and groups in groups. */
const maxTests = 500_000;
const maxDepth = 200;

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

function readJunit(text: string, folder: string): TestReport {
  const { root } = parseXml(text.replace(/^\uFEFF/, ""));
  if (root === null || !/^testsuites?$/.test(root.name)) throw new RangeError("no JUnit report");
  const tests: TestEntry[] = [];
  const { name = "", file = null } = root.name === "testsuite" ? root.attributes : {};
  addElements(root, { suite: name === "" ? [] : [name], folder, file }, tests);
  return { runner: "junit", tests, unfinished: [], coverage: null };
}

interface Place {
  readonly suite: readonly string[];
  readonly folder: string;
  readonly file: string | null;
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

const statuses: Readonly<Record<string, TestStatus>> = {
  passed: "passed",
  failed: "failed",
  skipped: "skipped",
  pending: "todo",
  other: "other",
};

type Fields = Readonly<Record<string, unknown>>;

function readCtrf(text: string, folder: string): TestReport {
  const { tool, tests } = fieldsOf(fieldsOf(JSON.parse(text))["results"]);
  const { name } = fieldsOf(tool);
  if (!Array.isArray(tests)) throw new RangeError("no CTRF report");
  return {
    runner: typeof name === "string" ? name : "ctrf",
    tests: tests.map((test) => testOf(test, folder)),
    unfinished: [],
    coverage: null,
  };
}

function testOf(value: unknown, folder: string): TestEntry {
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
