import { signal } from "@preact/signals";
import type { VNode } from "preact";
import { running, type SandboxRow } from "../lists.ts";
import { addressOf } from "../route.ts";
import { durationText } from "../amounts.ts";
import { LiveDot } from "./badge.tsx";
import { Empty } from "./empty.tsx";
import { Failure } from "./failure.tsx";
import { Filter, matches } from "./filter.tsx";
import { StartHere } from "./start-here.tsx";
import { RunPlace, RunTitle, textsOfRun, Work } from "./run-words.tsx";

const filter = signal("");

/** What lives now. */
export function RunningList({ selected }: { readonly selected: string | null }): VNode {
  const { rows, failure } = running.value;
  const shown = (rows ?? []).filter((row) => matches(filter.value, textsOfRun(row)));
  return (
    <>
      <div class="list-head">
        <h1>Running</h1>
        <Filter text={filter} label="Filter what runs" />
      </div>
      <Failure failure={failure} />
      {rows !== null && rows.length === 0 && (
        <Empty icon="box" title="Nothing runs">
          <p>Programs, sessions and environments appear here as soon as they start.</p>
          <StartHere />
        </Empty>
      )}
      {rows !== null && rows.length > 0 && shown.length === 0 && <p class="nothing">Nothing matches.</p>}
      <ul class="rows">
        {shown.map((row) => (
          <li key={row.id}>
            <Row row={row} isSelected={row.id === selected} />
          </li>
        ))}
      </ul>
    </>
  );
}

function Row({ row, isSelected }: { readonly row: SandboxRow; readonly isSelected: boolean }): VNode {
  return (
    <a class="row" href={addressOf({ section: "running", id: row.id })} aria-current={isSelected ? "true" : undefined}>
      <span class="row-line">
        <LiveDot state={row.state} />
        <RunTitle run={row} />
        <span class="row-end">{row.state === "starting" ? "starting" : durationText(row.elapsed_ms)}</span>
      </span>
      <Work run={row} />
      <span class="row-line quiet">
        <code>{row.id}</code>
      </span>
      <RunPlace run={row} />
    </a>
  );
}
