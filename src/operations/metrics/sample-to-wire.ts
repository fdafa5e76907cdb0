import { mebibyte } from "../../base/bytes.ts";
import type { MetricsSample } from "../../telemetry/sample.ts";
import type { SampledSandbox } from "../../telemetry/sampler.ts";
import type { WireSample } from "./sample-schema.ts";

/** A sample on the wire. */
export function sampleToWire(sample: MetricsSample): WireSample {
  return {
    timestamp: new Date(sample.takenAtMs).toISOString(),
    cpu_percent: rounded(sample.cpuPercent),
    memory_mb: inMebibytes(sample.memoryBytes),
    memory_cache_mb: inMebibytes(sample.memoryCacheBytes),
    scratch_mb: inMebibytes(sample.scratchBytes),
    network_rx_bytes: sample.networkReceivedBytes,
    network_tx_bytes: sample.networkSentBytes,
    disk_read_bytes: sample.diskReadBytes,
    disk_write_bytes: sample.diskWriteBytes,
    uptime_seconds: Math.round(sample.uptimeMs / 100) / 10,
  };
}

/** What never changes about a sampled sandbox. */
export function sampledToWire({ observed }: SampledSandbox): {
  engine: string;
  kind: string;
  limits: { cpus: number; memory_mb: number };
} {
  const { engine, kind, limits } = observed;
  return { engine, kind, limits: { cpus: limits.cpus, memory_mb: limits.memoryBytes / mebibyte } };
}

function inMebibytes(bytes: number | null): number | null {
  return bytes === null ? null : rounded(bytes / mebibyte);
}

function rounded<Value extends number | null>(value: Value): Value | number {
  return value === null ? value : Math.round(value * 10) / 10;
}
