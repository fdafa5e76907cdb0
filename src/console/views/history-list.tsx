import { signal } from "@preact/signals";
import type { VNode } from "preact";
import { history, type SandboxRow } from "../lists.ts";
import { addressOf } from "../route.ts";
import { agoText, durationText } from "../amounts.ts";
import { Badge } from "./badge.tsx";
import { Empty } from "./empty.tsx";
import { Failure } from "./failure.tsx";
import { Filter, matches } from "./filter.tsx";
import { StartHere } from "./start-here.tsx";
import { storedVerdict, verdictOf } from "./words.ts";
import { RunPlace, RunTitle, textsOfRun, Work } from "./run-words.tsx";

const filter = signal("");

/** Runs that have ended, each with its verdict. */
export function HistoryList({ selected }: { readonly selected: string | null }): VNode {
  const { rows, failure, atMs } = history.value;
  const shown = (rows ?? []).filter((row) => matches(filter.value, textsOf(row)));
  return (
    <>
      <div class="list-head">
        <h1>History</h1>
        <Filter text={filter} label="Filter the history" />
      </div>
      <Failure failure={failure} />
      {rows !== null && rows.length === 0 && (
        <Empty icon="clock" title="No runs yet">
          <p>Every run that has ended is listed here with its verdict.</p>
          <StartHere />
        </Empty>
      )}
      {rows !== null && rows.length > 0 && shown.length === 0 && <p class="nothing">Nothing matches.</p>}
      <ul class="rows">
        {shown.map((row) => (
          <li key={row.stored?.run_id ?? row.id}>
            <Row row={row} nowMs={atMs} isSelected={row.id === selected} />
          </li>
        ))}
      </ul>
    </>
  );
}

interface RowProps {
  readonly row: SandboxRow;
  readonly nowMs: number;
  readonly isSelected: boolean;
}

function Row({ row, nowMs, isSelected }: RowProps): VNode {
  const { stored } = row;
  const exitCode = stored?.exit_code ?? null;
  return (
    <a class="row" href={addressOf({ section: "history", id: row.id })} aria-current={isSelected ? "true" : undefined}>
      <span class="row-line">
        <Badge {...(stored === undefined ? verdictOf(null) : storedVerdict(stored))} />
        <RunTitle run={row} />
        <span class="row-end">{stored?.ended_at ? agoText(stored.ended_at, nowMs) : ""}</span>
      </span>
      <Work run={row} />
      <span class="row-line quiet">
        <code>{row.id}</code>
        <span class="row-end">
          {exitCode !== null && exitCode !== 0 && `exit ${exitCode} · `}
          {durationText(stored?.duration_ms ?? row.elapsed_ms)}
        </span>
      </span>
      <RunPlace run={row} />
    </a>
  );
}

function textsOf(row: SandboxRow): (string | null)[] {
  const verdict = row.stored === undefined ? "" : storedVerdict(row.stored).word;
  return [...textsOfRun(row), row.stored?.outcome ?? null, verdict];
}
