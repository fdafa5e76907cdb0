import type { RunEnding, StartedRun } from "../sandbox/run-record.ts";
import type { SandboxObserver } from "../sandbox/sandbox-observer.ts";
import type { Store } from "./store.ts";
import type { StoreRecord } from "./stored-records.ts";
import { createId } from "../base/id.ts";
import { mebibyte } from "../base/bytes.ts";
import type { Alert } from "../telemetry/alert-book.ts";
import type { MetricsSample } from "../telemetry/sampler.ts";

type RunStart = Extract<StoreRecord, { readonly kind: "run" }>;

/** Writes every run down, at its start and at its end. */
export class RunRecorder implements SandboxObserver {
  readonly #store: Pick<Store, "add">;
  readonly #server: string;
  readonly #positionIn: (sandbox: string) => number | null;
  /** Starts that found no room: they go with the ends. */
  readonly #unwritten = new WeakMap<StartedRun, RunStart>();

  /** `server`: the id of this one; `positionIn`: where a sandbox's log continues, null if it has none. */
  constructor(store: Pick<Store, "add">, server: string, positionIn: (sandbox: string) => number | null) {
    this.#store = store;
    this.#server = server;
    this.#positionIn = positionIn;
  }

  runStarted(started: StartedRun): void {
    const { labels, policy, startedAtMs, ...run } = started;
    const { id, principal, kind, engine, sandbox, session, environment, name, work, image } = run;
    const unknown = { ended_ms: null, outcome: null, exit_code: null, duration_ms: null, error_type: null };
    const ids = { id, server: this.#server, principal, kind, engine, sandbox, session, environment };
    const row = {
      ...ids,
      name,
      work,
      image,
      policy_digest: policy.digest,
      started_ms: startedAtMs,
      ...unknown,
      interrupted: 0,
    };
    const log = { log_from: this.#positionIn(sandbox), log_to: null };
    const record: RunStart = { kind: "run", row: { ...row, ...log, forgotten: 0 }, policy: policy.text, labels };
    if (!this.#store.add(record)) this.#unwritten.set(started, record);
  }

  runEnded(started: StartedRun, { outcome, exitCode, durationMs, errorType, endedAtMs }: RunEnding): void {
    const ended = { ended_ms: endedAtMs, outcome, exit_code: exitCode, duration_ms: durationMs, error_type: errorType };
    const end = { ...ended, log_to: this.#positionIn(started.sandbox) };
    const unwritten = this.#unwritten.get(started);
    if (unwritten === undefined) this.#store.add({ kind: "run_end", row: { id: started.id, ...end } });
    else this.#store.add({ ...unwritten, row: { ...unwritten.row, ...end } });
  }
}

/** How far apart a sandbox's samples are kept; in memory there is one a second. */
const sampleEveryMs = 10_000;
/** Sandboxes whose last sample is remembered. */
const maxRemembered = 10_000;

/** Writes alerts, and one sample of each sandbox in ten seconds. */
export class UsageRecorder {
  readonly #store: Pick<Store, "add">;
  /** By sandbox: when the last sample was taken that was kept, in milliseconds since the epoch. */
  readonly #keptMs = new Map<string, number>();

  constructor(store: Pick<Store, "add">) {
    this.#store = store;
  }

  alertTold(alert: Alert, principal: string): void {
    const { container_id: sandbox, timestamp, kind, value, threshold, state, message, suggestion } = alert;
    this.#store.add({
      kind: "alert",
      row: {
        ...{ id: createId("alt"), sandbox, principal, stamp_ms: Date.parse(timestamp) },
        ...{ kind, value, threshold, state, message, suggestion },
      },
    });
  }

  sampled(sandbox: string, principal: string, sample: MetricsSample): void {
    const { takenAtMs, memoryBytes } = sample;
    const last = this.#keptMs.get(sandbox);
    if (last !== undefined && Math.abs(takenAtMs - last) < sampleEveryMs) return;
    this.#keptMs.delete(sandbox);
    this.#keptMs.set(sandbox, takenAtMs);
    const [oldest] = this.#keptMs.keys();
    if (this.#keptMs.size > maxRemembered && oldest !== undefined) this.#keptMs.delete(oldest);
    this.#store.add({
      kind: "sample",
      row: {
        ...{ sandbox, principal, stamp_ms: takenAtMs, cpu_percent: sample.cpuPercent },
        memory_mb: memoryBytes === null ? null : memoryBytes / mebibyte,
        network_rx_bytes: sample.networkReceivedBytes,
        network_tx_bytes: sample.networkSentBytes,
        disk_read_bytes: sample.diskReadBytes,
        disk_write_bytes: sample.diskWriteBytes,
        uptime_seconds: sample.uptimeMs / 1_000,
      },
    });
  }
}
