import { parseXml, XmlElement } from "@rgrove/parse-xml";
import type { TestEntry, TestReport, TestStatus } from "../test-report.ts";

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
