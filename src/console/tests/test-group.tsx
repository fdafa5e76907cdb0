import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { durationText } from "../text/amounts.ts";
import { Untrusted } from "../text/untrusted.tsx";
import { Icon, type IconName } from "../views/icon.tsx";
import { hasFailed, type TestGroup, type TestLeaf, type TestState } from "./test-tree.ts";
import { FailureDetails } from "./failure-details.tsx";

/** Tests and groups of one group that are shown at first; more on demand. */
const maxShown = 200;

interface GroupProps {
  readonly group: TestGroup;
  readonly failedOnly: boolean;
  /** 0: the root, which has no line of its own. */
  readonly depth: number;
}

/** A file or a group of tests, opened where something in it failed. */
export function Group({ group, failedOnly, depth }: GroupProps): VNode {
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
