import type { ComponentChildren, VNode } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { RunTestsResponse } from "../../operations/tests/run-tests-contract.ts";
import { Untrusted } from "../text/untrusted.tsx";
import { Empty } from "../views/empty.tsx";
import { verdictOf } from "../views/words.ts";
import { Group } from "./test-group.tsx";
import { useKeptReport } from "./kept-report.ts";
import { hasFailed, testTree, type TestGroup } from "./test-tree.ts";

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
