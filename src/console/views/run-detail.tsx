import type { RunTestsResponse } from "../../operations/tests-contract.ts";
import { signal, type ReadonlySignal } from "@preact/signals";
import type { SandboxStateAnswer } from "../../operations/sandboxes-contract.ts";
import { ApiFailure, ask, sandboxPath, poll } from "../ask.ts";
import type { VNode, RefObject } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { LogProspect } from "../follow-log.ts";
import { LogView } from "../log-view.tsx";
import { MetricsView } from "../metrics-view.tsx";
import { PreviewView } from "../preview-view.tsx";
import { route, addressOf, goTo, type Tab, type Section } from "../route.ts";
import { TestsView } from "../tests-view.tsx";
import { Failure } from "./failure.tsx";
import { durationText } from "../amounts.ts";
import { Untrusted, UntrustedOutput } from "../untrusted.tsx";
import { running } from "../lists.ts";
import { Badge, LiveDot } from "./badge.tsx";
import { CopyButton } from "./copy-button.tsx";
import { Icon } from "./icon.tsx";
import { RunPlace, Work } from "./run-words.tsx";
import { titleOf, storedVerdict, verdictOf, type Verdict } from "./words.ts";

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

interface OpenedRun {
  /** Null: the server does not know it. */
  readonly answer: SandboxStateAnswer | null;
  readonly tests: RunTestsResponse | null;
  readonly offered: readonly Tab[];
}

/** The tab that a run opens on: what came of it where that was not well, else the first that is offered. */
export function firstTab({ answer, tests, offered }: OpenedRun): Tab {
  const [first = "log"] = offered;
  if (answer === null || !offered.includes("result")) return first;
  const { tone } = verdictOfAnswer(answer);
  const hasFailed = tone === "bad" || tone === "warn";
  // Tests that ran say more than the result does; without any, the reason is in it.
  const hasRunTests = tests === null || (tests.passed ?? 0) + (tests.failed ?? 0) + (tests.errors ?? 0) > 0;
  return hasFailed && !(first === "tests" && hasRunTests) ? "result" : first;
}

/** Lines of an output that are shown: the log has all of them. */
const maxLines = 400;
/** Warnings that are shown. */
const maxWarnings = 50;

/** What a run produced: its error, its warnings, the end of its output, of a failed one what it complained of first, and its facts. */
function ResultView({ answer }: { readonly answer: SandboxStateAnswer }): VNode {
  const { error, stored } = answer;
  const result = (typeof answer.result === "object" ? answer.result : null) as Readonly<Record<string, unknown>> | null;
  const told = error ?? asError(result?.["error"]);
  const facts = [...Object.entries(result ?? {}), ...Object.entries(stored ?? {})].flatMap(([name, value]) =>
    factOf(name, value),
  );
  const { tone } = verdictOfAnswer(answer);
  const warnings = texts(result?.["warnings"]);
  const written = [
    ["stdout", text(result?.["stdout"]) ?? text(result?.["stdout_tail"]) ?? answer.stdout_tail],
    ["stderr", text(result?.["stderr"]) ?? text(result?.["stderr_tail"]) ?? answer.stderr_tail],
    ["output", text(result?.["output"]) ?? ""],
  ] as const;
  const outputs = tone === "bad" || tone === "warn" ? [written[1], written[0], written[2]] : written;
  return (
    <div class="result">
      {told !== null && (
        <div class="failure">
          <div>
            <p>
              <strong>
                <Untrusted text={told.error_type} max={80} />
              </strong>{" "}
              <Untrusted text={told.message} />
            </p>
            <p class="hint">
              <Untrusted text={told.suggestion} />
            </p>
          </div>
        </div>
      )}
      {warnings.length > 0 && (
        <ul class="warnings" aria-label="Warnings">
          {warnings.slice(0, maxWarnings).map((warning, index) => (
            <li key={index}>
              <Untrusted text={warning} />
            </li>
          ))}
        </ul>
      )}
      {outputs.map(([name, output]) => (output === "" ? null : <Output key={name} name={name} output={output} />))}
      {facts.length > 0 && (
        <dl class="fact-table">
          {facts.map(([name, value]) => (
            <div key={name}>
              <dt>{name.replaceAll("_", " ")}</dt>
              <dd>
                <Untrusted text={value} max={300} />
              </dd>
            </div>
          ))}
        </dl>
      )}
    </div>
  );
}

function Output({ name, output }: { readonly name: string; readonly output: string }): VNode {
  // Only the end is split: an output may have millions of lines.
  const end = output.slice(-200_000).replace(/\n$/, "");
  const lines = end.split("\n").slice(-maxLines);
  return (
    <section class="output" aria-label={name}>
      <h3>{name}</h3>
      <pre tabIndex={0} ref={showEnd}>
        {lines.map((line, index) => (
          <div key={index}>
            <UntrustedOutput text={line.slice(0, 4_000)} />
          </div>
        ))}
      </pre>
    </section>
  );
}

/** What a program wrote last says most. */
function showEnd(element: HTMLElement | null): void {
  if (element !== null) element.scrollTop = element.scrollHeight;
}

const shownFacts = new Set(
  "outcome verdict reason exit_code duration_ms memory_used_mb engine isolation oci_runtime image setup_command coverage policy_digest started_at ended_at session_id env_id interrupted truncated".split(
    " ",
  ),
);

/** A fact that is worth a line; none for what says nothing. */
function factOf(name: string, value: unknown): [string, string][] {
  if (!shownFacts.has(name) || value === null || value === false || value === "") return [];
  if (name === "duration_ms" && typeof value === "number") return [["duration", durationText(value)]];
  return [[name, typeof value === "string" ? value : JSON.stringify(value)]];
}

interface ToldError {
  readonly error_type: string;
  readonly message: string;
  readonly suggestion: string;
}

function asError(value: unknown): ToldError | null {
  const { error_type: type, message, suggestion } = (value ?? {}) as Partial<ToldError>;
  return type === undefined ? null : { error_type: type, message: message ?? "", suggestion: suggestion ?? "" };
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === "string") : [];
}

function text(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

interface RunHeadProps {
  readonly id: string;
  /** Null: the server does not know it, or has not answered yet. */
  readonly answer: SandboxStateAnswer | null;
}

/** What a run is, its state, and the button that ends it. */
function RunHead({ id, answer }: RunHeadProps): VNode {
  const dialog = useRef<HTMLDialogElement>(null);
  const row = running.value.rows?.find((each) => each.id === id);
  const lives = answer !== null && answer.state !== "ended";
  const title = answer === null ? "Sandbox" : titleOf(answer);
  const exitCode = answer === null ? null : exitCodeOf(answer);
  return (
    <header class="detail-head">
      <a class="icon-button back" href={addressOf({ section: route.value.section })} aria-label="Back to the list">
        <Icon name="back" />
      </a>
      <div class="detail-name">
        <h2 id="detail-title">
          <Untrusted text={answer?.name ?? title} max={80} />
          {answer !== null && (lives ? <Living state={answer.state} /> : <Badge {...verdictOfAnswer(answer)} />)}
        </h2>
        {answer !== null && <Work run={answer} />}
        <p class="facts">
          {answer !== null && answer.name !== null && (
            <span>
              <Untrusted text={title} max={80} />
            </span>
          )}
          <span class="id">
            <code>
              <Untrusted text={id} max={100} />
            </code>
            <CopyButton text={id} label="Copy the id" />
          </span>
          {answer !== null && <span>{durationText(durationOf(answer, row?.elapsed_ms))}</span>}
          {exitCode !== null && exitCode !== 0 && <span>exit {exitCode}</span>}
          {lives && answer.progress !== null && (
            <span class="progress">
              <Untrusted text={answer.progress} max={200} />
            </span>
          )}
          {answer !== null && <RunPlace run={answer} />}
        </p>
      </div>
      {lives && (
        <button type="button" class="danger" onClick={() => dialog.current?.showModal()}>
          <Icon name="stop" />
          End
        </button>
      )}
      <EndDialog dialog={dialog} id={id} title={title} isPreview={answer?.kind === "preview"} />
    </header>
  );
}

function exitCodeOf({ result, stored }: SandboxStateAnswer): number | null {
  const { exit_code: ofResult } = (result ?? {}) as { readonly exit_code?: unknown };
  return typeof ofResult === "number" ? ofResult : (stored?.exit_code ?? null);
}

/** Of an ended run its program's time, in milliseconds. */
function durationOf(
  { result, stored, elapsed_ms: elapsedMs }: SandboxStateAnswer,
  listedMs: number | undefined,
): number {
  const { duration_ms: ofResult } = (result ?? {}) as { readonly duration_ms?: unknown };
  return typeof ofResult === "number" ? ofResult : (stored?.duration_ms ?? listedMs ?? elapsedMs);
}

function Living({ state }: { readonly state: "starting" | "running" | "ended" }): VNode {
  return (
    <span class="badge info">
      <LiveDot state={state} />
      {state === "starting" ? "Starting" : "Running"}
    </span>
  );
}

/** How an ended run stands: by its result's own verdict, else by its outcome, else by what the store has. */
function verdictOfAnswer({ result, error, stored }: SandboxStateAnswer): Verdict {
  if (error !== undefined) return { word: error.error_type, tone: "bad", icon: "warning" };
  const { verdict, outcome } = (typeof result === "object" && result !== null ? result : {}) as Readonly<
    Record<string, unknown>
  >;
  if (typeof verdict === "string") return verdictOf(verdict);
  if (typeof outcome === "string") return verdictOf(outcome);
  return stored === undefined ? verdictOf(null) : storedVerdict(stored);
}

interface EndDialogProps {
  readonly dialog: RefObject<HTMLDialogElement | null>;
  readonly id: string;
  /** What it is, for people. */
  readonly title: string;
  readonly isPreview: boolean;
}

/** Asks before a run or a sandbox is ended. */
function EndDialog({ dialog, id, title, isPreview }: EndDialogProps): VNode {
  const [failure, setFailure] = useState<ApiFailure | null>(null);
  const [isEnding, setEnding] = useState(false);
  const end = async (): Promise<void> => {
    setEnding(true);
    setFailure(null);
    try {
      await endRun(id, isPreview);
      dialog.current?.close();
      goTo({ section: route.value.section });
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      setFailure(error);
    } finally {
      setEnding(false);
    }
  };
  return (
    <dialog ref={dialog} class="dialog" aria-labelledby="end-title">
      <h2 id="end-title">
        End this <Untrusted text={title.toLowerCase()} max={80} />?
      </h2>
      <p>
        Everything that runs in{" "}
        <code>
          <Untrusted text={id} max={100} />
        </code>{" "}
        is ended, and its sandbox is removed with its files.
      </p>
      <Failure failure={failure} />
      <div class="dialog-buttons">
        <button type="button" onClick={() => dialog.current?.close()}>
          Keep it
        </button>
        <button type="button" class="danger solid" disabled={isEnding} onClick={() => void end()}>
          {isEnding ? "Ending" : "End it"}
        </button>
      </div>
    </dialog>
  );
}

const names: Readonly<Record<Tab, string>> = {
  log: "Log",
  metrics: "Metrics",
  tests: "Tests",
  preview: "Preview",
  result: "Result",
};

interface TabsProps {
  readonly section: Section;
  readonly id: string;
  readonly offered: readonly Tab[];
  readonly shown: Tab;
}

/** Tabs as links, moved between by the arrows. */
function Tabs({ section, id, offered, shown }: TabsProps): VNode {
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    const next = offered[(offered.indexOf(shown) + step + offered.length) % offered.length] ?? shown;
    goTo({ section, id, tab: next });
    document.querySelector<HTMLElement>(`#tab-${next}`)?.focus();
    event.preventDefault();
  };
  return (
    <div class="tabs" role="tablist" aria-label="Views" onKeyDown={onKeyDown}>
      {offered.map((tab) => (
        <a
          key={tab}
          id={`tab-${tab}`}
          role="tab"
          href={addressOf({ section, id, tab })}
          aria-selected={tab === shown}
          aria-controls="panel"
          tabIndex={tab === shown ? 0 : -1}
        >
          {names[tab]}
        </a>
      ))}
    </div>
  );
}

/** One run or sandbox, as it was in the server's last answer. */
interface RunState {
  readonly id: string;
  readonly answer: SandboxStateAnswer | null;
  readonly failure: ApiFailure | null;
}

const eachMs = 2_000;

/** Follows a run until it has ended or the returned function is called. */
function watchRun(id: string): { readonly state: ReadonlySignal<RunState>; readonly stop: () => void } {
  const state = signal<RunState>({ id, answer: null, failure: null });
  const stop = poll(
    async (abort) => {
      const answer = await ask<SandboxStateAnswer>("GET", sandboxPath(id), { signal: abort });
      if (!abort.aborted) state.value = { id, answer, failure: null };
      return answer.state === "ended";
    },
    {
      eachMs,
      onFailure: (failure) => {
        if (failure !== null) state.value = { ...state.value, failure };
      },
    },
  );
  return { state, stop };
}

/** Ends a run or a sandbox; a preview is asked to end first. @throws ApiFailure */
async function endRun(id: string, isPreview: boolean): Promise<void> {
  await ask("DELETE", isPreview ? `/api/sandbox/preview/${encodeURIComponent(id)}` : sandboxPath(id));
}

/** Null unless it is the result of a test run. */
function readTestResult(result: unknown): RunTestsResponse | null {
  if (typeof result !== "object" || result === null) return null;
  const { verdict, failures } = result as Partial<RunTestsResponse>;
  return typeof verdict === "string" && Array.isArray(failures) ? (result as RunTestsResponse) : null;
}
