import { relative } from "node:path";

interface TestResult {
  readonly fullName: string;
  status: string;
}

/** The part of vitest's JSON report that is read and changed here. */
interface Report {
  readonly testResults: readonly {
    readonly name: string;
    status: string;
    readonly assertionResults: readonly TestResult[];
  }[];
}

/** Which tests are run once more, alone. */
export interface TestsAgain {
  readonly files: readonly string[];
  /** For vitest's `--testNamePattern`. */
  readonly pattern: string;
  readonly count: number;
}

/** More failures than this are not explained by a busy machine. */
const maxAgain = 5;

/** Tests with real engines share a machine while they run; those of the repository and the units have no such excuse. */
const withEngines = /^test\/(?:engine-contract|e2e|security)\//;

/** The tests that failed, if they are few and all of them use engines; else null. */
export function testsAgain(text: string, root: string): TestsAgain | null {
  const failed = (JSON.parse(text) as Report).testResults.filter(({ status }) => status === "failed");
  const files = failed.map(({ name }) => relative(root, name).replaceAll("\\", "/"));
  const names = failed.map(({ assertionResults }) => namesOfFailed(assertionResults));
  const count = names.flat().length;
  // A file that failed without any failed test did not even load.
  const isExcused = files.every((file) => withEngines.test(file)) && names.every((list) => list.length > 0);
  if (count === 0 || count > maxAgain || !isExcused) return null;
  return { files: [...new Set(files)], pattern: `^(?:${names.flat().map(patternOf).join("|")})$`, count };
}

/** The first run's report, in which tests that failed but passed in the second run count as passed. */
export function mergeAgain(first: string, second: string): string {
  const report = JSON.parse(first) as Report;
  const passed = new Set(
    (JSON.parse(second) as Report).testResults.flatMap(({ name, assertionResults }) =>
      assertionResults.filter(({ status }) => status === "passed").map(({ fullName }) => `${name}\n${fullName}`),
    ),
  );
  for (const file of report.testResults) {
    const failed = file.assertionResults.filter(({ status }) => status === "failed");
    for (const test of failed) if (passed.has(`${file.name}\n${test.fullName}`)) test.status = "passed";
    if (failed.length > 0 && failed.every(({ status }) => status === "passed")) file.status = "passed";
  }
  return JSON.stringify(report);
}

function namesOfFailed(tests: readonly TestResult[]): readonly string[] {
  return tests.filter(({ status }) => status === "failed").map(({ fullName }) => fullName);
}

/** Between the names of a test and of its groups, vitest puts more than the single space that a report has. */
function patternOf(fullName: string): string {
  return fullName.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`).replaceAll(" ", "(?: > | )");
}
