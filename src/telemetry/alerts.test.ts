import { describe, expect, it } from "vitest";
import type { AlertSink } from "../base/alert-sink.ts";
import type { Alert } from "./alert-book.ts";
import { changedTooling, clearedSetuidBits, EventAlerts, previewTroubles, refusedConnections } from "./alerts.ts";

const refusal = { target: "example.com:443", reason: "No rule allows example.com.", remedy: "Add it." };

function watched(): { readonly alerts: AlertSink<typeof refusal>; readonly told: readonly Alert[] } {
  const told: Alert[] = [];
  let time = 0;
  return {
    alerts: new EventAlerts(
      refusedConnections,
      (alert) => told.push(alert),
      () => (time += 1_000),
    ),
    told,
  };
}

describe("alerts of refused connections", () => {
  it("starts an alert with the first refusal of a sandbox and ends it with the count of all", () => {
    const { alerts, told } = watched();
    for (let count = 0; count < 3; count++) alerts.happened("sbx-1", refusal);
    alerts.happened("sbx-2", refusal);
    alerts.ended("sbx-1");
    alerts.ended("sbx-2");
    expect(told).toEqual([
      {
        container_id: "sbx-1",
        timestamp: "1970-01-01T00:00:01.000Z",
        kind: "network",
        value: 1,
        threshold: 0,
        state: "start",
        message: "A connection to example.com:443 was refused. No rule allows example.com.",
        suggestion: "Add it.",
      },
      expect.objectContaining({ container_id: "sbx-2", state: "start" }),
      expect.objectContaining({
        container_id: "sbx-1",
        value: 3,
        state: "end",
        message: "3 connections were refused, the first to example.com:443. No rule allows example.com.",
      }),
      expect.objectContaining({ container_id: "sbx-2", value: 1, state: "end" }),
    ]);
  });

  it("says nothing of a sandbox that was refused nothing, and ends an alert once", () => {
    const { alerts, told } = watched();
    alerts.ended("sbx-1");
    alerts.happened("sbx-1", refusal);
    alerts.ended("sbx-1");
    alerts.ended("sbx-1");
    expect(told.map(({ state }) => state)).toEqual(["start", "end"]);
  });
});

describe("alerts of setuid bits", () => {
  it("tells of each time that bits were taken, and at the sandbox's end of all", () => {
    const told: Alert[] = [];
    const alerts = new EventAlerts(
      clearedSetuidBits,
      (alert) => told.push(alert),
      () => 1_000,
    );
    alerts.happened("sbx-1", { count: 1, names: ["a\nb"] });
    alerts.happened("sbx-1", { count: 7, names: ["c"] });
    alerts.ended("sbx-1");
    alerts.ended("sbx-1");
    alerts.ended("sbx-2");
    expect(told.map(({ state, kind, value, message }) => ({ state, kind, value, message }))).toEqual([
      {
        state: "start",
        kind: "setuid_files",
        value: 1,
        message: String.raw`The setuid bit was taken of 1 file of the project: "a\nb".`,
      },
      {
        state: "start",
        kind: "setuid_files",
        value: 7,
        message: 'The setuid bit was taken of 7 files of the project: "c", ....',
      },
      {
        state: "end",
        kind: "setuid_files",
        value: 8,
        message: "The setuid bit was taken of 8 files of the project in all.",
      },
    ]);
    expect(told[0]).toMatchObject({ container_id: "sbx-1", timestamp: "1970-01-01T00:00:01.000Z", threshold: 0 });
  });
});

describe("alerts of files that tools run", () => {
  it("tells of each change, and once of the end of a sandbox that had any", () => {
    const told: Alert[] = [];
    const alerts = new EventAlerts(
      changedTooling,
      (alert) => told.push(alert),
      () => 0,
    );
    alerts.happened("sbx-1", { changed: [{ path: ".git/config", change: "changed" }], gaps: [] });
    alerts.happened("sbx-1", { changed: [], gaps: [] });
    alerts.happened("sbx-1", { changed: [{ path: ".envrc", change: "new" }], gaps: [] });
    alerts.ended("sbx-2");
    alerts.ended("sbx-1");
    alerts.ended("sbx-1");
    expect(told.map(({ kind, state, value }) => [kind, state, value])).toEqual([
      ["tooling_files", "start", 1],
      ["tooling_files", "start", 1],
      ["tooling_files", "end", 2],
    ]);
    expect(told[0]).toMatchObject({ container_id: "sbx-1", message: expect.stringContaining(".git/config (changed)") });
  });

  it("tells once a sandbox of each reason why a comparison was not whole, and that no name proves nothing", () => {
    const told: Alert[] = [];
    const alerts = new EventAlerts(
      changedTooling,
      (alert) => told.push(alert),
      () => 0,
    );
    alerts.happened("sbx-1", { changed: [], gaps: ["held"] });
    alerts.happened("sbx-1", { changed: [], gaps: ["held"] });
    alerts.happened("sbx-1", { changed: [], gaps: ["held", "large"] });
    alerts.ended("sbx-1");
    expect(told.map(({ state, value, message }) => [state, value, message])).toEqual([
      ["start", 0, expect.stringMatching(/proves nothing: a program holds a lease.*What to do: /)],
      ["start", 0, expect.stringMatching(/larger than is read/)],
      ["end", 0, expect.stringMatching(/Not all of them could be compared/)],
    ]);
  });
});

describe("alerts of previews", () => {
  it("tell of each error with its place and lines, and end as one", () => {
    const told: Alert[] = [];
    const alerts = new EventAlerts(
      previewTroubles,
      (alert) => told.push(alert),
      () => 0,
    );
    alerts.ended("sbx-1");
    alerts.happened("sbx-1", { summary: "It broke.", place: { file: "a.ts", line: 3 }, lines: ["x".repeat(5_000)] });
    alerts.happened("sbx-1", { summary: "It is silent.", place: null, lines: [] });
    alerts.ended("sbx-1");
    alerts.ended("sbx-1");
    expect(told.map(({ kind, state, value, message }) => [kind, state, value, message])).toEqual([
      ["preview_error", "start", 1, `a.ts:3: It broke.\n${"x".repeat(4_000)}`],
      ["preview_error", "start", 2, "It is silent."],
      ["preview_error", "end", 2, "The preview shows this error no more, or has ended."],
    ]);
  });
});
