import { signal } from "@preact/signals";
import type { VNode } from "preact";
import type { WireAlert } from "../../operations/contract/alert-schema.ts";
import { alerts } from "../api/lists.ts";
import { addressOf } from "../route.ts";
import { agoText } from "../text/amounts.ts";
import { Untrusted } from "../text/untrusted.tsx";
import { Badge } from "./badge.tsx";
import { Empty } from "./empty.tsx";
import { Failure } from "./runs/failure.tsx";
import { Filter, matches } from "./filter.tsx";

const filter = signal("");

const kinds: Readonly<Record<WireAlert["kind"], string>> = {
  cpu: "CPU",
  memory: "Memory",
  oom: "Out of memory",
  network: "Network",
  preview_error: "Preview error",
  setuid_files: "Setuid files",
  tooling_files: "Tooling files",
};

/** The newest alerts. */
export function AlertList({ selected }: { readonly selected: string | null }): VNode {
  const { rows, failure, atMs } = alerts.value;
  const shown = (rows ?? []).filter((alert) =>
    matches(filter.value, [alert.container_id, alert.kind, kinds[alert.kind], alert.message, alert.state]),
  );
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
          <li key={`${alert.timestamp} ${alert.container_id} ${alert.kind} ${alert.state} ${index}`}>
            <Row alert={alert} nowMs={atMs} isSelected={alert.container_id === selected} />
          </li>
        ))}
      </ul>
    </>
  );
}

/** One alert: what it is about, its message, and what helps. */
function Row({
  alert,
  nowMs,
  isSelected,
}: {
  readonly alert: WireAlert;
  readonly nowMs: number;
  readonly isSelected: boolean;
}): VNode {
  const { container_id: id, kind, state, message, suggestion, timestamp } = alert;
  const hasBegun = state === "start";
  return (
    <a class="row" href={addressOf({ section: "alerts", id })} aria-current={isSelected ? "true" : undefined}>
      <span class="row-line">
        <Badge
          word={hasBegun ? (kinds[kind] ?? kind) : `${kinds[kind] ?? kind}: over`}
          tone={hasBegun ? "warn" : "quiet"}
          icon={hasBegun ? "warning" : "check"}
        />
        <span class="row-end">
          <time dateTime={timestamp}>{agoText(timestamp, nowMs)}</time>
        </span>
      </span>
      <span class="row-text">
        <Untrusted text={message} max={300} />
      </span>
      {hasBegun && suggestion !== "" && (
        <span class="row-text quiet">
          <Untrusted text={suggestion} max={300} />
        </span>
      )}
      <span class="row-line quiet">
        <code>{id}</code>
      </span>
    </a>
  );
}
