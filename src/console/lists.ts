import type { WireAlert } from "../operations/contract/program-schema.ts";
import { signal, type ReadonlySignal } from "@preact/signals";
import type { OwnSandboxes } from "../operations/sandboxes-contract.ts";
import { ask, poll, type ApiFailure } from "./ask.ts";

/** One alert from its start to its end. */
export interface JoinedAlert {
  readonly sandboxId: string;
  readonly kind: WireAlert["kind"];
  /** The first sentence or line of what it says. */
  readonly cause: string;
  /** What it says after that. */
  readonly details: string;
  readonly suggestion: string;
  /** RFC 3339; null: it began before the oldest one that is known. */
  readonly startedAt: string | null;
  /** RFC 3339; null: it goes on. */
  readonly endedAt: string | null;
  /** What it counted by its end, where that is more than at its start; null: nothing more. */
  readonly total: number | null;
}

/** Kinds that are one alert from the first start to the end: a later start says the same, with more. */
const single: ReadonlySet<WireAlert["kind"]> = new Set(["cpu", "memory", "oom", "network"]);
/** Kinds whose value is a number of events, and not what was measured. */
const counting: ReadonlySet<WireAlert["kind"]> = new Set(["oom", "network"]);

interface Episode {
  start: WireAlert | null;
  end: WireAlert | null;
}

/**
 * Each alert once, with its end, the newest start first. Of the kinds that tell several things, one end is the end of all
 * that are open.
 * @param alerts the oldest first, as the server lists them
 */
export function joinAlerts(alerts: readonly WireAlert[]): readonly JoinedAlert[] {
  const episodes: Episode[] = [];
  const open = new Map<string, Episode[]>();
  for (const alert of alerts) {
    const key = `${alert.kind} ${alert.container_id}`;
    const known = open.get(key) ?? [];
    if (alert.state === "end") {
      open.delete(key);
      if (known.length === 0) episodes.push({ start: null, end: alert });
      for (const episode of known) episode.end = alert;
    } else if (single.has(alert.kind) && known[0] !== undefined) {
      known[0].start = { ...alert, timestamp: known[0].start?.timestamp ?? alert.timestamp };
    } else {
      const episode: Episode = { start: alert, end: null };
      episodes.push(episode);
      open.set(key, [...known, episode]);
    }
  }
  return episodes.toReversed().flatMap(joined);
}

export type SandboxRow = OwnSandboxes["sandboxes"][number];

/** A list as it was in the server's last answer. */
interface Listed<Row> {
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

function joined({ start, end }: Episode): readonly JoinedAlert[] {
  const told = start ?? end;
  if (told === null) return [];
  const { container_id: sandboxId, kind, suggestion, message } = told;
  const { cause, details } = splitMessage(message);
  const isMore = counting.has(kind) && end !== null && end.value > (start?.value ?? 0);
  return [
    {
      ...{ sandboxId, kind, cause, details, suggestion },
      startedAt: start?.timestamp ?? null,
      endedAt: end?.timestamp ?? null,
      total: isMore && start !== null ? end.value : null,
    },
  ];
}

/** The first sentence of the first line is the cause; a point within a word, such as a name's, ends none. */
function splitMessage(message: string): { readonly cause: string; readonly details: string } {
  const [line = ""] = message.split("\n", 1);
  const end = /[.!?](?=\s)/.exec(line)?.index ?? line.length;
  return { cause: message.slice(0, end + 1).trim(), details: message.slice(end + 1).trim() };
}
