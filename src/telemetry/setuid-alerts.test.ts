import { describe, expect, it } from "vitest";
import type { Alert } from "./alert.ts";
import { SetuidAlerts } from "./setuid-alerts.ts";

describe("SetuidAlerts", () => {
  it("tells of each time that bits were taken, and at the sandbox's end of all", () => {
    const told: Alert[] = [];
    const alerts = new SetuidAlerts(
      (alert) => told.push(alert),
      () => 1_000,
    );
    alerts.cleared("sbx-1", { count: 1, names: ["a\nb"] });
    alerts.cleared("sbx-1", { count: 7, names: ["c"] });
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
