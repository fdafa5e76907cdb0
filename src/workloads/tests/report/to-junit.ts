import { countTests, type TestEntry, type TestReport } from "./test-report.ts";

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
