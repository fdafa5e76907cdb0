import { describe, expect, it } from "vitest";
import type { Alert } from "./alert.ts";
import { ToolingAlerts } from "./tooling-alerts.ts";

describe("ToolingAlerts", () => {
  it("tells of each change, and once of the end of a sandbox that had any", () => {
    const told: Alert[] = [];
    const alerts = new ToolingAlerts(
      (alert) => told.push(alert),
      () => 0,
    );
    alerts.changed("sbx-1", [{ path: ".git/config", change: "changed" }]);
    alerts.changed("sbx-1", [{ path: ".envrc", change: "new" }]);
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
});
