import type { VNode } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { watchRun, type RunState } from "../../api/run-state.ts";
import type { LogProspect } from "../../log/follow-log.ts";
import { LogView } from "../../log/log-view.tsx";
import { MetricsView } from "../../metrics/metrics-view.tsx";
import { PreviewView } from "../../preview/preview-view.tsx";
import { route, type Tab } from "../../route.ts";
import { readTestResult } from "../../tests/test-result.ts";
import { firstTab } from "./first-tab.ts";
import { TestsView } from "../../tests/tests-view.tsx";
import { Failure } from "./failure.tsx";
import { ResultView } from "./result-view.tsx";
import { RunHead } from "./run-head.tsx";
import { Tabs } from "../tabs.tsx";

/** One run or sandbox: what it is, its log, its metrics and what came of it. */
export function RunDetail({ id }: { readonly id: string }): VNode {
  const watched = useMemo(() => watchRun(id), [id]);
  useEffect(() => watched.stop, [watched]);
  const { answer, failure } = watched.state.value;
  const { section, tab } = route.value;
  // A run whose sandbox is another's asks for that one's log; of an alert only the sandbox is known.
  const sandboxId = answer === null ? (failure === null ? null : id) : answer.sandbox_id;
  const tests = useMemo(() => readTestResult(answer?.result), [answer]);
  const isPreview = answer?.operation === "start_preview" || answer?.kind === "preview";
  const offered: Tab[] = [
    ...(isPreview ? (["preview"] as const) : []),
    ...(tests === null && answer?.stored?.kind !== "test" ? [] : (["tests"] as const)),
    "log",
    "metrics",
    ...(answer?.state === "ended" ? (["result"] as const) : []),
  ];
  // What it is opened on stays when the run ends: somebody may be reading.
  const opened = useRef<Tab | null>(null);
  const isKnown = answer !== null || failure !== null;
  if (isKnown) opened.current ??= firstTab({ answer, tests, offered });
  const shown = offered.find((each) => each === (tab ?? opened.current)) ?? offered[0] ?? "log";
  return (
    <article class="detail" aria-labelledby="detail-title">
      <RunHead id={id} answer={answer} />
      {answer === null && failure?.status !== 404 && <Failure failure={failure} />}
      {(isKnown || tab !== null) && (
        <>
          <Tabs section={section} id={id} offered={offered} shown={shown} />
          <div class={`tab-panel panel-${shown}`} role="tabpanel" id="panel" aria-labelledby={`tab-${shown}`}>
            {shown === "log" && (
              <LogView key={sandboxId ?? id} id={sandboxId ?? id} prospect={prospectOf(watched.state.value)} />
            )}
            {shown === "metrics" && <MetricsView key={sandboxId ?? id} id={sandboxId ?? id} />}
            {shown === "preview" && <PreviewView key={sandboxId ?? id} id={sandboxId ?? id} />}
            {shown === "tests" && <TestsView key={id} tests={tests} id={id} />}
            {shown === "result" && answer !== null && <ResultView answer={answer} />}
          </div>
        </>
      )}
    </article>
  );
}

function prospectOf({ answer, failure }: RunState): LogProspect {
  if (answer !== null) return answer.state === "ended" ? "no" : "yes";
  return failure?.status === 404 ? "no" : "unknown";
}
