import type { RunTestsResponse } from "../../operations/tests/run-tests-contract.ts";

export type TestState = "passed" | "failed" | "error" | "skipped" | "todo" | "other";

/** One test as the tree shows it. */
export interface TestLeaf {
  readonly name: string;
  readonly state: TestState;
  readonly file: string | null;
  readonly line: number | null;
  readonly message: string;
  readonly details: string;
  readonly durationMs: number | null;
}

/** A file or a group of tests. */
export interface TestGroup {
  readonly name: string;
  readonly groups: readonly TestGroup[];
  readonly tests: readonly TestLeaf[];
  /** Of all that is below it. */
  readonly counts: Readonly<Record<TestState, number>>;
}

/** A group while it is filled. */
interface Branch {
  readonly name: string;
  readonly branches: Map<string, Branch>;
  readonly tests: TestLeaf[];
}

/** Larger reports are not opened in a page; in characters. */
const maxReport = 40_000_000;
const maxDepth = 12;

/** Every test in its file and groups where there is the whole report, else those that failed. */
export function testTree(
  ctrf: string | undefined,
  failures: RunTestsResponse["failures"],
): { readonly root: TestGroup; readonly isWhole: boolean } {
  const whole = wholeReport(ctrf);
  const placed = whole ?? failures.map((failure) => ({ leaf: leafOfFailure(failure), suite: [] }));
  const root: Branch = { name: "", branches: new Map(), tests: [] };
  for (const { leaf, suite } of placed) {
    const path = [...(leaf.file === null ? [] : [leaf.file]), ...suite.filter((name) => name !== leaf.file)];
    let branch = root;
    for (const name of path.slice(0, maxDepth)) {
      const known = branch.branches.get(name) ?? { name, branches: new Map(), tests: [] };
      branch.branches.set(name, known);
      branch = known;
    }
    branch.tests.push(leaf);
  }
  return { root: groupOf(root), isWhole: whole !== null };
}

/** Whether something below it failed. */
export function hasFailed({ counts }: TestGroup): boolean {
  return counts.failed + counts.error > 0;
}

function groupOf({ name, branches, tests }: Branch): TestGroup {
  const groups = [...branches.values()].map(groupOf).toSorted(byFailure);
  const counts = { passed: 0, failed: 0, error: 0, skipped: 0, todo: 0, other: 0 };
  for (const { state } of tests) counts[state] += 1;
  for (const group of groups) for (const state of states) counts[state] += group.counts[state];
  return { name, groups, tests: tests.toSorted((a, b) => rank(a.state) - rank(b.state)), counts };
}

const states = ["failed", "error", "other", "todo", "skipped", "passed"] as const;
const rank = (state: TestState): number => (state === "failed" || state === "error" ? 0 : 1);
const byFailure = (a: TestGroup, b: TestGroup): number => Number(hasFailed(b)) - Number(hasFailed(a));

function leafOfFailure({ name, file, line, message, details }: RunTestsResponse["failures"][number]): TestLeaf {
  return { name, file, line, message, details, state: "failed", durationMs: null };
}

/** The report in the Common Test Report Format as `toCtrf` writes it; null where there is none that can be read. */
function wholeReport(
  ctrf: string | undefined,
): { readonly leaf: TestLeaf; readonly suite: readonly string[] }[] | null {
  if (ctrf === undefined || ctrf.length > maxReport) return null;
  try {
    const { results } = JSON.parse(ctrf) as {
      readonly results: { readonly tests: readonly Record<string, unknown>[] };
    };
    return results.tests.map((test) => ({ leaf: leafOfCtrf(test), suite: namesOf(test["suite"]) }));
  } catch {
    return null;
  }
}

function leafOfCtrf(test: Readonly<Record<string, unknown>>): TestLeaf {
  const text = (name: string): string | null => (typeof test[name] === "string" ? test[name] : null);
  const number = (name: string): number | null => (typeof test[name] === "number" ? test[name] : null);
  const known = (status: unknown): TestState | undefined => states.find((each) => each === status);
  const state = known(test["rawStatus"]) ?? known(test["status"]) ?? "other";
  return {
    name: text("name") ?? "",
    state,
    file: text("filePath"),
    line: number("line"),
    message: text("message") ?? "",
    details: text("trace") ?? "",
    durationMs: number("duration"),
  };
}

function namesOf(suite: unknown): readonly string[] {
  return Array.isArray(suite) ? suite.filter((name) => typeof name === "string") : [];
}
