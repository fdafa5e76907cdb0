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
    alerts.compared("sbx-1", { changed: [{ path: ".git/config", change: "changed" }], gaps: [] });
    alerts.compared("sbx-1", { changed: [], gaps: [] });
    alerts.compared("sbx-1", { changed: [{ path: ".envrc", change: "new" }], gaps: [] });
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
    const alerts = new ToolingAlerts(
      (alert) => told.push(alert),
      () => 0,
    );
    alerts.compared("sbx-1", { changed: [], gaps: ["held"] });
    alerts.compared("sbx-1", { changed: [], gaps: ["held"] });
    alerts.compared("sbx-1", { changed: [], gaps: ["held", "large"] });
    alerts.ended("sbx-1");
    expect(told.map(({ state, value, message }) => [state, value, message])).toEqual([
      ["start", 0, expect.stringMatching(/proves nothing: a program holds a lease.*What to do: /)],
      ["start", 0, expect.stringMatching(/larger than is read/)],
      ["end", 0, expect.stringMatching(/Not all of them could be compared/)],
    ]);
  });
});
