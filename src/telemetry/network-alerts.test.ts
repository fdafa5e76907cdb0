import { describe, expect, it } from "vitest";
import type { Alert } from "./alert.ts";
import { NetworkAlerts } from "./network-alerts.ts";

const refusal = { target: "example.com:443", reason: "No rule allows example.com.", remedy: "Add it." };

function watched(): { readonly alerts: NetworkAlerts; readonly told: readonly Alert[] } {
  const told: Alert[] = [];
  let time = 0;
  return {
    alerts: new NetworkAlerts(
      (alert) => told.push(alert),
      () => (time += 1_000),
    ),
    told,
  };
}

describe("NetworkAlerts", () => {
  it("starts an alert with the first refusal of a sandbox and ends it with the count of all", () => {
    const { alerts, told } = watched();
    for (let count = 0; count < 3; count++) alerts.refused("sbx-1", refusal);
    alerts.refused("sbx-2", refusal);
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
    alerts.refused("sbx-1", refusal);
    alerts.ended("sbx-1");
    alerts.ended("sbx-1");
    expect(told.map(({ state }) => state)).toEqual(["start", "end"]);
  });
});
