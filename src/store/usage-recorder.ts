import { createId } from "../base/id.ts";
import { mebibyte } from "../base/bytes.ts";
import type { Alert } from "../telemetry/alert.ts";
import type { MetricsSample } from "../telemetry/sample.ts";
import type { Store } from "./store.ts";

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
