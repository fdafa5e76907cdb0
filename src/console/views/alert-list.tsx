import { signal } from "@preact/signals";
import type { VNode } from "preact";
import type { JoinedAlert } from "../api/join-alerts.ts";
import { alerts, history, running, type SandboxRow } from "../api/lists.ts";
import { addressOf } from "../route.ts";
import { agoText, durationText } from "../text/amounts.ts";
import { Untrusted } from "../text/untrusted.tsx";
import { Badge } from "./badge.tsx";
import { Empty } from "./empty.tsx";
import { Failure } from "./runs/failure.tsx";
import { Filter, matches } from "./filter.tsx";
import { textsOfRun, Work } from "./runs/run-words.tsx";

const filter = signal("");

const kinds: Readonly<Record<JoinedAlert["kind"], string>> = {
  cpu: "CPU",
  memory: "Memory",
  oom: "Out of memory",
  network: "Network",
  preview_error: "Preview error",
  setuid_files: "Setuid files",
  tooling_files: "Tooling files",
};

/** The newest alerts, each once. */
export function AlertList({ selected }: { readonly selected: string | null }): VNode {
  const { rows, failure, atMs } = alerts.value;
  const runs = runsBySandbox();
  const shown = (rows ?? []).filter((alert) => matches(filter.value, textsOf(alert, runs.get(alert.sandboxId))));
  return (
    <>
      <div class="list-head">
        <h1>Alerts</h1>
        <Filter text={filter} label="Filter alerts" />
      </div>
      <Failure failure={failure} />
      {rows !== null && rows.length === 0 && (
        <Empty icon="shield" title="All quiet">
          <p>Sandboxes that come near their limits, or try what they may not, are named here.</p>
        </Empty>
      )}
      {rows !== null && rows.length > 0 && shown.length === 0 && <p class="nothing">Nothing matches.</p>}
      <ul class="rows">
        {shown.map((alert, index) => (
          <li key={`${alert.startedAt} ${alert.sandboxId} ${alert.kind} ${index}`}>
            <Row alert={alert} run={runs.get(alert.sandboxId)} nowMs={atMs} isSelected={alert.sandboxId === selected} />
          </li>
        ))}
      </ul>
    </>
  );
}

interface RowProps {
  readonly alert: JoinedAlert;
  /** What runs or ran in its sandbox, where that is known. */
  readonly run: SandboxRow | undefined;
  readonly nowMs: number;
  readonly isSelected: boolean;
}

/** One alert: its cause, its kind and whether it goes on, what helps, and where it is. */
function Row({ alert, run, nowMs, isSelected }: RowProps): VNode {
  const { sandboxId, kind, cause, details, suggestion, startedAt, endedAt } = alert;
  const goesOn = endedAt === null;
  return (
    <a
      class="row"
      href={addressOf({ section: "alerts", id: sandboxId })}
      aria-current={isSelected ? "true" : undefined}
    >
      <span class="row-text alert-cause">
        <Untrusted text={cause} max={300} />
      </span>
      <span class="row-line">
        <Badge word={kinds[kind] ?? kind} tone={goesOn ? "warn" : "quiet"} icon={goesOn ? "warning" : "check"} />
        <span class="quiet">{stateOf(alert)}</span>
        <span class="row-end">
          <time dateTime={startedAt ?? endedAt ?? ""}>{agoText(startedAt ?? endedAt ?? "", nowMs)}</time>
        </span>
      </span>
      {details !== "" && (
        <span class="row-text quiet">
          <Untrusted text={details} max={300} />
        </span>
      )}
      {suggestion !== "" && (
        <span class="row-text quiet">
          <Untrusted text={suggestion} max={300} />
        </span>
      )}
      <span class="row-line quiet">
        {run !== undefined && run.name !== null && (
          <span class="row-kind">
            <Untrusted text={run.name} max={80} />
          </span>
        )}
        <code>{sandboxId}</code>
      </span>
      {run !== undefined && <Work run={run} />}
    </a>
  );
}

/** Whether it goes on, how long it lasted and what it counted. */
function stateOf({ startedAt, endedAt, total }: JoinedAlert): string {
  if (endedAt === null) return "goes on";
  const lasted = startedAt === null ? "" : ` after ${durationText(Date.parse(endedAt) - Date.parse(startedAt))}`;
  return `over${lasted}${total === null ? "" : ` · ${total.toLocaleString("en")} in all`}`;
}

/** The newest run of each sandbox, as far as the lists have it. */
function runsBySandbox(): ReadonlyMap<string, SandboxRow> {
  const ended = (history.value.rows ?? []).toReversed();
  return new Map([...ended, ...(running.value.rows ?? [])].map((row) => [row.sandbox_id ?? row.id, row]));
}

function textsOf(alert: JoinedAlert, run: SandboxRow | undefined): (string | null)[] {
  const { sandboxId, kind, cause, details } = alert;
  return [sandboxId, kind, kinds[kind], cause, details, stateOf(alert), ...(run === undefined ? [] : textsOfRun(run))];
}
