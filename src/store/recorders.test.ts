import { expect, it } from "vitest";
import type { RunEnding, StartedRun } from "../sandbox/run-record.ts";
import { RunRecorder, UsageRecorder } from "./recorders.ts";
import type { StoreRecord } from "./stored-records.ts";
import { mebibyte } from "../base/bytes.ts";
import type { MetricsSample } from "../telemetry/sampler.ts";

const started: StartedRun = {
  ...{ id: "run-1", sandbox: "sbx-1", engine: "local", kind: "execute", principal: "ann", session: null },
  ...{
    environment: null,
    name: "nightly",
    work: "python: print(1)",
    image: null,
    labels: { job: "17" },
    startedAtMs: 5,
    policy: { digest: "d1", text: "{}" },
  },
};
const ending: RunEnding = { outcome: "completed", exitCode: 0, durationMs: 4, errorType: null, endedAtMs: 9 };
const end = { ended_ms: 9, outcome: "completed", exit_code: 0, duration_ms: 4, error_type: null, log_to: 3 };

it.each([true, false])("tells a run's end, and all of it if the start found no room (it found some: %s)", (hasRoom) => {
  const records: StoreRecord[] = [];
  let position = 2;
  const recorder = new RunRecorder({ add: (record) => records.push(record) > 0 && hasRoom }, "own-1", () => position++);
  recorder.runStarted(started);
  recorder.runEnded(started, ending);
  expect(records).toMatchObject([
    {
      kind: "run",
      policy: "{}",
      labels: { job: "17" },
      row: { id: "run-1", name: "nightly", work: "python: print(1)", image: null, ended_ms: null, log_from: 2 },
    },
    hasRoom
      ? { kind: "run_end", row: { id: "run-1", ...end } }
      : { kind: "run", policy: "{}", labels: { job: "17" }, row: { id: "run-1", started_ms: 5, log_from: 2, ...end } },
  ]);
});

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
