import { describe, expect, it } from "vitest";
import { AlertBook, type Alert } from "./alert-book.ts";

function alert(sandbox: string, changes: Partial<Alert> = {}): Alert {
  return {
    container_id: sandbox,
    timestamp: "2026-01-02T03:04:05.000Z",
    kind: "cpu",
    value: 1,
    threshold: 0,
    state: "start",
    message: "",
    suggestion: "",
    ...changes,
  };
}

function book(): AlertBook {
  const made = new AlertBook();
  made.sandboxOpened({ sandbox: { id: "sbx-1" }, principal: "anna" });
  made.sandboxOpened({ sandbox: { id: "sbx-2" }, principal: "bert" });
  return made;
}

describe("AlertBook", () => {
  it("shows a principal its own and nobody else's", () => {
    const alerts = book();
    alerts.add(alert("sbx-1"));
    alerts.add(alert("sbx-2"));
    alerts.add(alert("sbx-unknown"));
    expect(alerts.list("anna")).toEqual([alert("sbx-1")]);
    expect(alerts.list("bert")).toEqual([alert("sbx-2")]);
    expect(alerts.list("carl")).toEqual([]);
  });

  it("knows whose a sandbox was when it has gone", () => {
    const alerts = book();
    alerts.sandboxRemoved("sbx-1");
    alerts.add(alert("sbx-1"));
    expect(alerts.list("anna")).toHaveLength(1);
  });

  it.each([
    [{ sandbox: "sbx-1" }, 3],
    [{ sandbox: "sbx-9" }, 0],
    [{ kind: "oom" }, 1],
    [{ state: "end" }, 1],
    [{ since: "2026-01-02T03:04:06Z" }, 1],
    [{ since: "2026-01-02T04:04:05+01:00" }, 3],
    [{ kind: "cpu", state: "end" }, 1],
  ] as const)("finds by %j", (filter, count) => {
    const alerts = book();
    alerts.add(alert("sbx-1"));
    alerts.add(alert("sbx-1", { state: "end" }));
    alerts.add(alert("sbx-1", { kind: "oom", timestamp: "2026-01-02T03:04:07.000Z" }));
    expect(alerts.list("anna", filter)).toHaveLength(count);
  });

  it("tells what came since a moment, of one sandbox", () => {
    const alerts = book();
    alerts.add(alert("sbx-1"));
    const { mark } = alerts;
    alerts.add(alert("sbx-2"));
    alerts.add(alert("sbx-1", { kind: "oom" }));
    expect(alerts.since(mark, "sbx-1").map(({ kind }) => kind)).toEqual(["oom"]);
    expect(alerts.since(alerts.mark, "sbx-1")).toEqual([]);
    expect(alerts.since(0, "sbx-unknown")).toEqual([]);
  });

  it("tells listeners until they stop", () => {
    const alerts = book();
    const heard: string[] = [];
    const stop = alerts.listen(({ container_id }, principal) => heard.push(`${principal} ${container_id}`));
    alerts.add(alert("sbx-1"));
    alerts.add(alert("sbx-3"));
    stop();
    alerts.add(alert("sbx-2"));
    expect(heard).toEqual(["anna sbx-1"]);
  });

  it("keeps the newest of each principal, and of as many principals as there is room for", () => {
    const alerts = book();
    for (let count = 0; count < 600; count++) alerts.add(alert("sbx-1", { value: count }));
    expect(alerts.list("anna")).toHaveLength(500);
    expect(alerts.list("anna")[0]?.value).toBe(100);
    for (let count = 0; count < 1_000; count++) {
      alerts.sandboxOpened({ sandbox: { id: `sbx-p${count}` }, principal: `p${count}` });
      alerts.add(alert(`sbx-p${count}`));
    }
    expect(alerts.list("anna")).toEqual([]);
    expect(alerts.list("p0")).toHaveLength(1);
  });

  it("forgets whose a sandbox was that ended long ago", () => {
    const alerts = book();
    alerts.sandboxRemoved("sbx-1");
    for (let count = 0; count < 1_000; count++) alerts.sandboxRemoved(`sbx-p${count}`);
    alerts.add(alert("sbx-1"));
    expect(alerts.list("anna")).toEqual([]);
  });
});
