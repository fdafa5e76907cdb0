import { expect, it } from "vitest";
import type { RunEnding, StartedRun } from "../sandbox/run-record.ts";
import { RunRecorder } from "./run-recorder.ts";
import type { StoreRecord } from "./store-record.ts";

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
