import { signal, type ReadonlySignal } from "@preact/signals";
import type { WireAlert } from "../operations/contract/program-schema.ts";
import type { OwnSandboxes } from "../operations/sandboxes-contract.ts";
import type { ApiFailure } from "./api-failure.ts";
import { ask } from "./ask.ts";
import { joinAlerts, type JoinedAlert } from "./join-alerts.ts";
import { poll } from "./polling.ts";

export type SandboxRow = OwnSandboxes["sandboxes"][number];

/** A list as it was in the server's last answer. */
export interface Listed<Row> {
  /** Null: not known yet. */
  readonly rows: readonly Row[] | null;
  readonly failure: ApiFailure | null;
  /** Milliseconds since the epoch. */
  readonly atMs: number;
}

const empty: Listed<never> = { rows: null, failure: null, atMs: 0 };

/** Rows of one list; of alerts their starts and ends. */
const shown = { history: 200, alerts: 200 } as const;
/** How often each is asked for: a key may allow 60 requests a minute. */
const eachMs = { running: 2_000, history: 5_000, alerts: 5_000 } as const;

const runningRows = signal<Listed<SandboxRow>>(empty);
const historyRows = signal<Listed<SandboxRow>>(empty);
const alertRows = signal<Listed<JoinedAlert>>(empty);

/** What lives now. */
export const running: ReadonlySignal<Listed<SandboxRow>> = runningRows;
/** Runs that have ended, the newest first. */
export const history: ReadonlySignal<Listed<SandboxRow>> = historyRows;
/** Each once, with its end; the newest first. */
export const alerts: ReadonlySignal<Listed<JoinedAlert>> = alertRows;

/** Keeps what lives, and alerts, up to date until the returned function is called. */
export function watchLists(): () => void {
  const ends = [
    follow(runningRows, eachMs.running, async (signal) => {
      const { sandboxes } = await ask<OwnSandboxes>("GET", "/api/sandbox", { signal });
      return sandboxes;
    }),
    follow(alertRows, eachMs.alerts, async (signal) => {
      const query = { limit: shown.alerts };
      const { alerts } = await ask<{ readonly alerts: readonly WireAlert[] }>("GET", "/api/alerts", { query, signal });
      return joinAlerts(alerts);
    }),
  ];
  return () => {
    for (const end of ends) end();
    for (const list of [runningRows, historyRows, alertRows]) list.value = empty;
  };
}

/** Keeps the history up to date, while it is shown. */
export function watchHistory(): () => void {
  return follow(historyRows, eachMs.history, async (signal) => {
    const query = { state: "ended", limit: shown.history };
    return (await ask<OwnSandboxes>("GET", "/api/sandbox", { query, signal })).sandboxes;
  });
}

function follow<Row>(
  list: { value: Listed<Row> },
  eachMs: number,
  read: (signal: AbortSignal) => Promise<readonly Row[]>,
): () => void {
  const work = async (signal: AbortSignal): Promise<boolean> => {
    const rows = await read(signal);
    if (!signal.aborted) list.value = { rows, failure: null, atMs: Date.now() };
    return false;
  };
  return poll(work, {
    eachMs,
    onFailure: (failure) => {
      if (failure !== null) list.value = { ...list.value, failure };
    },
  });
}
