import pino from "pino";
import type { LogBlock, LogEntry, LogSource } from "../../src/telemetry/log-entry.ts";
import type { StorePlace } from "../../src/store/database.ts";
import { Store, type StoreOptions } from "../../src/store/store.ts";
import type { RunEndRow } from "../../src/store/stored-records.ts";
import type { RunRow } from "../../src/store/tables.ts";

/** A store at that place, opened in the background as a server does. */
export function openStore(place: StorePlace, over: Partial<StoreOptions> = {}): Store {
  const store = new Store({
    place,
    retention: { maxAgeMs: 86_400_000, maxBytes: 1_000_000_000 },
    maxRunBytes: 1_000_000_000,
    server: { id: "own-1", identity: { pid: 1 }, isAlive: () => null },
    logger: pino({ level: "silent" }),
    // The entries of these tests are from their first seconds.
    now: () => 2_000,
    monotonicMs: () => performance.now(),
    ...over,
  });
  store.start();
  return store;
}

export function entriesOf(source: LogSource, count: number, from = 0): LogEntry[] {
  return Array.from({ length: count }, (_, index) => ({
    source,
    offset: from + index,
    stampMs: 1_000 + from + index,
    stream: "stdout" as const,
    message: `line ${from + index}`,
    partial: false,
    dropped: 0,
  }));
}

/** The entries as they go to a sink. */
export function blocksOf(entries: readonly LogEntry[]): LogBlock[] {
  return entries.map(({ message, ...entry }) => ({ ...entry, text: message, count: 1 }));
}

export function runRow(id: string, server: string): RunRow {
  return {
    id,
    server,
    principal: "ann",
    kind: "execute",
    engine: "local",
    sandbox: "sbx-1",
    session: null,
    environment: null,
    ...{ name: null, work: "python: print(1)", image: null },
    policy_digest: "d1",
    started_ms: Date.now(),
    ended_ms: null,
    outcome: null,
    exit_code: null,
    duration_ms: null,
    error_type: null,
    interrupted: 0,
    log_from: 0,
    log_to: null,
    forgotten: 0,
  };
}

/** The end of a run that completed. */
export function runEnd(id: string): RunEndRow {
  const of = { outcome: "completed", exit_code: 0, duration_ms: 12, error_type: null, log_to: null };
  return { id, ended_ms: 5_000_000_000_000, ...of };
}
