import { expect, it } from "vitest";
import { mebibyte } from "../base/bytes.ts";
import type { MetricsSample } from "../telemetry/sample.ts";
import type { StoreRecord } from "./store-record.ts";
import { UsageRecorder } from "./usage-recorder.ts";

const sampleAt = (second: number): MetricsSample => ({
  takenAtMs: second * 1_000,
  cpuPercent: 1,
  memoryBytes: 2 * mebibyte,
  networkReceivedBytes: null,
  networkSentBytes: null,
  diskReadBytes: 3,
  diskWriteBytes: 4,
  memoryCacheBytes: null,
  scratchBytes: null,
  uptimeMs: 1_500,
});

it("keeps of each sandbox one sample in ten seconds, in the units of its columns", () => {
  const records: StoreRecord[] = [];
  const recorder = new UsageRecorder({ add: (record) => records.push(record) > 0 });
  for (let second = 0; second < 25; second++) {
    recorder.sampled("sbx-1", "ann", sampleAt(second));
    if (second === 3) recorder.sampled("sbx-2", "bob", sampleAt(second));
  }
  const rows = records.map(({ kind, ...rest }) => [kind, "row" in rest ? rest.row : null] as const);
  expect(rows.map(([kind]) => kind)).toEqual(["sample", "sample", "sample", "sample"]);
  expect(rows.map(([, row]) => row)).toMatchObject([
    { sandbox: "sbx-1", principal: "ann", stamp_ms: 0, memory_mb: 2, disk_read_bytes: 3, uptime_seconds: 1.5 },
    { sandbox: "sbx-2", principal: "bob", stamp_ms: 3_000 },
    { sandbox: "sbx-1", stamp_ms: 10_000 },
    { sandbox: "sbx-1", stamp_ms: 20_000 },
  ]);
});
