import type { VNode } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { RunTestsResponse } from "../../operations/tests/run-tests-contract.ts";
import { Untrusted } from "../text/untrusted.tsx";
import { Empty } from "../views/empty.tsx";
import { verdictOf } from "../views/words.ts";
import { Group } from "./test-group.tsx";
import { hasFailed, testTree } from "./test-tree.ts";

const counted = ["passed", "failed", "errors", "skipped", "todo", "other"] as const;

/** A test report: the verdict, the numbers, and the tests as a tree, failures first. */
export function TestsView({ tests }: { readonly tests: RunTestsResponse }): VNode {
  const { root, isWhole } = useMemo(() => testTree(tests), [tests]);
  const [failedOnly, setFailedOnly] = useState(true);
  const isNarrowed = failedOnly && hasFailed(root);
  const isEmpty = root.groups.length === 0 && root.tests.length === 0;
  const { tone } = verdictOf(tests.verdict);
  return (
    <div class="tests">
      <div class={`test-summary ${tone}`}>
        <p class="test-reason">
          <Untrusted text={tests.reason} max={400} />
        </p>
        <ul class="test-counts">
          {counted.map((name) => {
            const count = tests[name];
            return count === null || (count === 0 && name !== "passed" && name !== "failed") ? null : (
              <li key={name} class={name}>
                <strong>{count.toLocaleString("en")}</strong> {name}
              </li>
            );
          })}
          {tests.coverage !== undefined && (
            <li>
              <strong>{tests.coverage} %</strong> coverage
            </li>
          )}
          {!tests.counted && <li>not counted</li>}
        </ul>
      </div>
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
      {isEmpty ? (
        <Empty
          icon={tests.verdict === "passed" ? "check" : "minus"}
          title={tests.verdict === "passed" ? "Nothing failed" : "No test to show"}
        >
          <p>
            Ask for <code>reports: [&quot;ctrf&quot;]</code> to see every test here.
          </p>
        </Empty>
      ) : (
        <div class="tree">
          <Group group={root} failedOnly={isNarrowed} depth={0} />
        </div>
      )}
      {!isWhole && !isEmpty && (
        <p class="hint">
          Failures only. Ask for <code>reports: [&quot;ctrf&quot;]</code> to see every test here.
        </p>
      )}
    </div>
  );
}
