import { parseCargoReport, parseGoReport } from "./report/parse-tool-report.ts";
import type { TestReport } from "./report/test-report.ts";

/** All that the product knows of one test runner; its reporter, where it takes one, is in `images/reporters`. */
interface TestRunner {
  /** As its reporter and results name it. */
  readonly name: string;
  /** Commands that name it; undefined: none is known by its words. */
  readonly command?: RegExp;
  /** The summary that it prints for people; undefined: none is read. */
  readonly summary?: Summary;
  /** Of a program that takes no reporter of ours: what it prints is signed by a shell that stands before it. */
  readonly tool?: WatchedTool;
  /** What it loads by itself, or takes for itself, from a folder of tests or one above it. */
  readonly planted?: readonly string[];
}

/** Patterns of the lines that hold the numbers; with `last` only the last line that it describes counts. */
interface Summary {
  readonly passed: RegExp;
  readonly failed: RegExp;
  readonly skipped: RegExp;
  readonly last?: RegExp;
}

/** A program whose output is signed (`images/reporters/shell/tool.sh`). */
interface WatchedTool {
  /** Its name on the PATH is the runner's. Subcommands that run tests. */
  readonly subcommands: readonly string[];
  /** What it printed, before a line with its exit code: untrusted. @throws RangeError for what is no report */
  readonly parse: (text: string, folder: string) => TestReport;
  /** Whether that is all for people, and the numbers only as good as that. */
  readonly isForPeople: boolean;
}

const words = { passed: /(?<!\d)(\d+) passed/, failed: /(?<!\d)(\d+) failed/, skipped: /(?<!\d)(\d+) skipped/ };
const scripts = ["js", "cjs", "mjs", "ts", "cts", "mts", "json"];

/** The runners of the product; the first whose words a command has is the one that it names. */
export const runnerTable: readonly TestRunner[] = [
  {
    name: "pytest",
    command: /\bpytest\b|\bpy\.test\b/,
    summary: { ...words, last: /^=* ?\d+ (?:passed|failed|skipped|errors?|xfailed|xpassed|deselected)\b.* in \d/ },
    planted: ["conftest.py", "pytest.ini", ".pytest.ini", "pytest.py", "pytest", "_pytest", "pluggy"],
  },
  {
    name: "vitest",
    command: /\bvitest\b/,
    summary: { ...words, last: /^ *Tests +\d/ },
    planted: [
      ...["js", "mjs", "ts", "json"].map((ending) => `vitest.workspace.${ending}`),
      ...["vitest", "vite"].flatMap((name) => scripts.map((ending) => `${name}.config.${ending}`)),
    ],
  },
  {
    name: "jest",
    command: /\bjest\b/,
    summary: { ...words, last: /^Tests: +\d/ },
    planted: scripts.map((ending) => `jest.config.${ending}`),
  },
  {
    name: "mocha",
    command: /\bmocha\b/,
    summary: { passed: /^ +(\d+) passing\b/, failed: /^ +(\d+) failing\b/, skipped: /^ +(\d+) pending\b/ },
    planted: ["js", "cjs", "mjs", "json", "jsonc", "yaml", "yml"].map((ending) => `.mocharc.${ending}`),
  },
  {
    name: "bun",
    command: /\bbun\s+test\b/,
    summary: { passed: /^ +(\d+) pass$/, failed: /^ +(\d+) fail$/, skipped: /^ +(\d+) skip$/ },
    planted: ["bunfig.toml"],
  },
  {
    name: "unittest",
    command: /\bunittest\b/,
    // What stands in the place of a module of Python itself.
    planted: ["unittest.py", "unittest/__init__.py"],
  },
  {
    name: "node:test",
    command: /\bnode\b.{0,1000}\s--test\b/,
    summary: { passed: /^[#ℹ] pass (\d+)$/, failed: /^[#ℹ] fail (\d+)$/, skipped: /^[#ℹ] skipped (\d+)$/ },
  },
  { name: "go", tool: { subcommands: ["test"], parse: parseGoReport, isForPeople: false } },
  { name: "cargo", tool: { subcommands: ["test", "t"], parse: parseCargoReport, isForPeople: true } },
];

/** Those whose output is signed. */
export const watchedTools: readonly (TestRunner & { readonly tool: WatchedTool })[] = runnerTable.flatMap((row) =>
  row.tool === undefined ? [] : [{ ...row, tool: row.tool }],
);

/** The row of that name; undefined: another tool's. */
export function runnerOf(name: string): TestRunner | undefined {
  return runnerTable.find((row) => row.name === name);
}

/** Counts of a runner's own summary, as it prints it for people: anything can print such lines. */
interface SummaryCounts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** How much of the end of an output is examined. */
const maxTail = 16_384;
const maxLine = 1_000;
/** Escape sequences of colours. */
// oxlint-disable-next-line no-control-regex
const colours = /\u001b\[[0-9;]*m/g;

/** The runner that a command names, null when it names no known one. */
export function runnerNamedIn(command: string): string | null {
  return runnerTable.find((row) => row.command?.test(command))?.name ?? null;
}

/** The last summary of this runner at the end of an output, null when there is none. */
export function findSummary(runner: string, output: string): SummaryCounts | null {
  const summary = runnerOf(runner)?.summary;
  if (summary === undefined) return null;
  const lines = output
    .slice(-maxTail)
    .replaceAll(colours, "")
    .split(/\r?\n/)
    .filter((line) => line.length < maxLine);
  const { last } = summary;
  const searched = last === undefined ? lines : lines.filter((line) => last.test(line)).slice(-1);
  const numberOf = (pattern: RegExp): number | null => {
    const line = searched.findLast((each) => pattern.test(each));
    return line === undefined ? null : Number(pattern.exec(line)?.[1]);
  };
  const [passed, failed, skipped] = [numberOf(summary.passed), numberOf(summary.failed), numberOf(summary.skipped)];
  if (passed === null && failed === null && skipped === null) return null;
  return { passed: passed ?? 0, failed: failed ?? 0, skipped: skipped ?? 0 };
}

/** How often `bun test` ends in an output: its only report is about the last time. */
export function countBunSummaries(output: string): number {
  return output.replaceAll(colours, "").match(/^Ran \d+ tests? across \d+ files?\./gm)?.length ?? 0;
}
