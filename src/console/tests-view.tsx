import type { ComponentChildren, VNode } from "preact";
import { useMemo, useState, useEffect } from "preact/hooks";
import type { RunTestsResponse, ReadTestReportResponse } from "../operations/tests-contract.ts";
import { Untrusted, UntrustedOutput } from "./untrusted.tsx";
import { Empty } from "./views/empty.tsx";
import { verdictOf } from "./views/words.ts";
import { ask, sandboxPath } from "./ask.ts";
import { durationText } from "./amounts.ts";
import { Icon, type IconName } from "./views/icon.tsx";

const counted = ["passed", "failed", "errors", "skipped", "todo", "other"] as const;

/** A test report: the verdict, the numbers, and the tests as a tree, failures first; of a run whose answer is gone, what is kept. */
export function TestsView({ tests, id }: { readonly tests: RunTestsResponse | null; readonly id: string }): VNode {
  const told = tests?.report?.ctrf;
  const kept = useKeptReport(told === undefined ? (tests?.sandbox_id ?? id) : null);
  const ctrf = told ?? kept.ctrf;
  const { root, isWhole } = useMemo(() => testTree(ctrf, tests?.failures ?? []), [ctrf, tests]);
  const [failedOnly, setFailedOnly] = useState(true);
  const isNarrowed = failedOnly && hasFailed(root);
  const isEmpty = root.groups.length === 0 && root.tests.length === 0;
  return (
    <div class="tests">
      {tests === null ? <KeptSummary root={root} /> : <Summary tests={tests} />}
      {isWhole && hasFailed(root) && (
        <label class="check">
          <input
            type="checkbox"
            checked={failedOnly}
            onChange={({ currentTarget }) => setFailedOnly(currentTarget.checked)}
          />
          Only failures
        </label>
      )}
      {kept.isAwaited && <p class="hint">The whole report is on its way.</p>}
      {isEmpty ? (
        !kept.isAwaited && <NoTests passed={tests?.verdict === "passed"} />
      ) : (
        <div class="tree">
          <Group group={root} failedOnly={isNarrowed} depth={0} />
        </div>
      )}
      {!isWhole && !isEmpty && !kept.isAwaited && (
        <p class="hint">Failures only: the whole report of this run is not kept.</p>
      )}
    </div>
  );
}

function NoTests({ passed }: { readonly passed: boolean }): VNode {
  return (
    <Empty icon={passed ? "check" : "minus"} title={passed ? "Nothing failed" : "No test to show"}>
      <p>The whole report of this run is not kept.</p>
    </Empty>
  );
}

/** Of a run that only the store knows. */
function KeptSummary({ root }: { readonly root: TestGroup }): VNode {
  const { passed, failed, error, skipped, todo, other } = root.counts;
  const counts = { passed, failed, errors: error, skipped, todo, other };
  return (
    <div class="test-summary">
      <Counts counts={counts} />
    </div>
  );
}

function Summary({ tests }: { readonly tests: RunTestsResponse }): VNode {
  const { tone } = verdictOf(tests.verdict);
  return (
    <div class={`test-summary ${tone}`}>
      <p class="test-reason">
        <Untrusted text={tests.reason} max={400} />
      </p>
      <Counts counts={tests}>
        {tests.coverage !== undefined && (
          <li>
            <strong>{tests.coverage} %</strong> coverage
          </li>
        )}
        {!tests.counted && <li>not counted</li>}
      </Counts>
    </div>
  );
}

function Counts({
  counts,
  children,
}: {
  readonly counts: Pick<RunTestsResponse, (typeof counted)[number]>;
  readonly children?: ComponentChildren;
}): VNode {
  return (
    <ul class="test-counts">
      {counted.map((name) => {
        const count = counts[name];
        return count === null || (count === 0 && name !== "passed" && name !== "failed") ? null : (
          <li key={name} class={name}>
            <strong>{count.toLocaleString("en")}</strong> {name}
          </li>
        );
      })}
      {children}
    </ul>
  );
}

/** A whole report as the server keeps it. */
interface KeptReport {
  readonly ctrf: string | undefined;
  readonly isAwaited: boolean;
}

/** The report of a sandbox's tests that is kept on the server; null: none is wanted. */
function useKeptReport(id: string | null): KeptReport {
  const [report, setReport] = useState<KeptReport>({ ctrf: undefined, isAwaited: id !== null });
  useEffect(() => {
    if (id === null) return undefined;
    const gone = new AbortController();
    const read = async (): Promise<void> => {
      const { signal } = gone;
      const answer = await ask<ReadTestReportResponse>("GET", sandboxPath(id, "/tests"), { signal }).catch(() => null);
      if (!signal.aborted) setReport({ ctrf: answer?.ctrf, isAwaited: false });
    };
    void read();
    return () => gone.abort();
  }, [id]);
  return report;
}

/** Tests and groups of one group that are shown at first; more on demand. */
const maxShown = 200;

interface GroupProps {
  readonly group: TestGroup;
  readonly failedOnly: boolean;
  /** 0: the root, which has no line of its own. */
  readonly depth: number;
}

/** A file or a group of tests, opened where something in it failed. */
function Group({ group, failedOnly, depth }: GroupProps): VNode {
  const [isOpen, setOpen] = useState(hasFailed(group) || depth === 0);
  if (depth === 0) return <Members group={group} failedOnly={failedOnly} depth={depth} />;
  const { passed, failed, error, skipped, todo, other } = group.counts;
  const bad = failed + error;
  const total = passed + bad + skipped + todo + other;
  return (
    <details class="test-group" open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <Untrusted text={group.name} max={300} />
        <span class="group-counts">
          {bad > 0 && <span class="failed">{bad} failed</span>}
          <span>{total.toLocaleString("en")}</span>
        </span>
      </summary>
      {isOpen && <Members group={group} failedOnly={failedOnly} depth={depth} />}
    </details>
  );
}

function Members({ group, failedOnly, depth }: GroupProps): VNode {
  const [shown, setShown] = useState(maxShown);
  const groups = failedOnly ? group.groups.filter(hasFailed) : group.groups;
  const tests = failedOnly ? group.tests.filter(({ state }) => isBad(state)) : group.tests;
  const rest = Math.max(0, groups.length - shown) + Math.max(0, tests.length - shown);
  return (
    <ul class="test-members">
      {tests.slice(0, shown).map((test, index) => (
        <li key={index}>
          <Leaf test={test} />
        </li>
      ))}
      {groups.slice(0, shown).map((each) => (
        <li key={each.name}>
          <Group group={each} failedOnly={failedOnly} depth={depth + 1} />
        </li>
      ))}
      {rest > 0 && (
        <li>
          <button type="button" class="chip" onClick={() => setShown(shown + 5 * maxShown)}>
            {rest.toLocaleString("en")} more
          </button>
        </li>
      )}
    </ul>
  );
}

const icons: Readonly<Record<TestState, IconName>> = {
  passed: "check",
  failed: "cross",
  error: "warning",
  skipped: "minus",
  todo: "clock",
  other: "minus",
};

function Leaf({ test }: { readonly test: TestLeaf }): VNode {
  const { name, state, durationMs } = test;
  const line = (
    <>
      <span class={`test-state ${state}`}>
        <Icon name={icons[state]} />
        <span class="sr-only">{state}</span>
      </span>
      <Untrusted text={name === "" ? "(no name)" : name} max={500} />
      {durationMs !== null && durationMs >= 1 && <span class="test-duration">{durationText(durationMs)}</span>}
    </>
  );
  if (!isBad(state)) return <div class="test-leaf">{line}</div>;
  return (
    <details class="test-leaf" open>
      <summary>{line}</summary>
      <FailureDetails test={test} />
    </details>
  );
}

function isBad(state: TestState): boolean {
  return state === "failed" || state === "error";
}

/** Lines of a failure's details that are drawn. */
const maxLines = 200;

/** Why a test failed: where, its message, and the rest as it came. */
function FailureDetails({ test }: { readonly test: TestLeaf }): VNode {
  const { file, line, message, details } = test;
  // Most stacks begin with the message.
  const isTold = details.includes(message.trim());
  return (
    <div class="failure-details">
      {file !== null && (
        <p class="place">
          <Untrusted text={line === null ? file : `${file}:${line}`} max={500} />
        </p>
      )}
      {message.trim() !== "" && !isTold && <Lines text={message.trimEnd()} />}
      {details.trim() !== "" && <Lines text={details.trimEnd()} />}
    </div>
  );
}

function Lines({ text }: { readonly text: string }): VNode {
  const lines = text.slice(0, 100_000).split("\n");
  return (
    <pre tabIndex={0}>
      {lines.slice(0, maxLines).map((line, index) => (
        <div key={index} class={classOf(line)}>
          <UntrustedOutput text={line.slice(0, 2_000)} />
        </div>
      ))}
      {lines.length > maxLines && <div class="mark">{lines.length - maxLines} more lines</div>}
    </pre>
  );
}

/** Expected and actual, as runners mark them. */
function classOf(line: string): string {
  if (/^\s*\+(?!\+\+)/.test(line)) return "diff-added";
  if (/^\s*-(?!--)/.test(line)) return "diff-removed";
  return "";
}

type TestState = "passed" | "failed" | "error" | "skipped" | "todo" | "other";

/** One test as the tree shows it. */
interface TestLeaf {
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
