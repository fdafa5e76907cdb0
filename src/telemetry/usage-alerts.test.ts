import { describe, expect, it } from "vitest";
import { mebibyte } from "../base/bytes.ts";
import type { Alert } from "./alert-book.ts";
import { UsageAlerts, initialRuleState, stepRule } from "./alerts.ts";

const limits = { cpus: 2, memoryBytes: 100 * mebibyte };

function watched(): { readonly alerts: UsageAlerts; readonly told: readonly Alert[]; readonly brief: () => unknown[] } {
  const told: Alert[] = [];
  const alerts = new UsageAlerts(
    (alert) => told.push(alert),
    { cpus: 4, memoryBytes: 100 * mebibyte },
    () => 5_000,
  );
  alerts.sandboxOpened({ sandbox: { id: "sbx-1" }, limits });
  return { alerts, told, brief: () => told.map(({ kind, state, value }) => [kind, state, value]) };
}

/** So many samples, one a second, the first at the second given. */
function sample(
  alerts: UsageAlerts,
  first: number,
  count: number,
  cpuPercent: number | null,
  memory: number | null,
): void {
  for (let second = first; second < first + count; second++) {
    const memoryBytes = memory === null ? null : memory * mebibyte;
    alerts.sampled("sbx-1", { cpuPercent, memoryBytes, uptimeMs: second * 1_000 });
  }
}

describe("UsageAlerts", () => {
  it("starts one of the CPU after ten seconds above 90 % of all its CPUs, and ends it when their mean stays below", () => {
    const { alerts, told, brief } = watched();
    sample(alerts, 1, 9, 185, null);
    expect(brief()).toEqual([]);
    sample(alerts, 10, 5, 185, null);
    sample(alerts, 15, 2, 20, null);
    expect(brief()).toEqual([["cpu", "start", 92.5]]);
    sample(alerts, 17, 9, 20, null);
    expect(brief()).toEqual([
      ["cpu", "start", 92.5],
      ["cpu", "end", 59.5],
    ]);
    expect(told[0]).toEqual({
      container_id: "sbx-1",
      timestamp: "1970-01-01T00:00:05.000Z",
      kind: "cpu",
      value: 92.5,
      threshold: 90,
      state: "start",
      message: "CPU in use for the last ten seconds: 93 % of the limit (2 CPUs).",
      suggestion: expect.stringContaining("limits.cpus"),
    });
  });

  it("says how far a limit can be raised, and nothing of that at the deployment's ceiling", () => {
    const { alerts, told } = watched();
    sample(alerts, 1, 12, 200, 95);
    expect(told.map(({ kind, suggestion }) => [kind, /limits\.\w+( \(at most .*\))?/.exec(suggestion)?.[0]])).toEqual([
      ["memory", undefined],
      ["cpu", "limits.cpus (at most 4)"],
    ]);
  });

  it("takes a short pause for no end of being busy", () => {
    const { alerts, brief } = watched();
    sample(alerts, 1, 5, 200, null);
    sample(alerts, 6, 1, 100, null);
    sample(alerts, 7, 4, 200, null);
    expect(brief()).toEqual([["cpu", "start", 95]]);
  });

  it("takes the whole of one CPU of two for half", () => {
    const { alerts, told } = watched();
    sample(alerts, 1, 60, 100, null);
    expect(told).toEqual([]);
  });

  it("takes exactly 90 % for no alert", () => {
    const { alerts, told } = watched();
    sample(alerts, 1, 60, 180, 90);
    expect(told).toEqual([]);
  });

  it("starts one of memory at once", () => {
    const { alerts, told, brief } = watched();
    sample(alerts, 1, 3, null, 95);
    sample(alerts, 4, 9, null, 50);
    expect(brief()).toEqual([
      ["memory", "start", 95],
      ["memory", "end", 50],
    ]);
    expect(told[0]?.message).toBe("Memory in use: 95 % of the limit (100 MiB).");
  });

  it("says nothing where nothing is known", () => {
    const { alerts, told } = watched();
    sample(alerts, 1, 60, null, null);
    expect(told).toEqual([]);
  });

  it("tells of kills for want of memory once each time that there are more", () => {
    const { alerts, told, brief } = watched();
    for (const oomKills of [null, 0, 1, 1, 3]) alerts.statsRead("sbx-1", { oomKills });
    expect(brief()).toEqual([
      ["oom", "start", 1],
      ["oom", "start", 3],
    ]);
    expect(told[0]?.message).toBe("1 process was ended for want of memory: the limit is 100 MiB.");
  });

  it("ends what goes on with the sandbox, and nothing else", () => {
    const { alerts, brief } = watched();
    sample(alerts, 1, 12, 200, 99);
    alerts.statsRead("sbx-1", { oomKills: 2 });
    alerts.sandboxRemoved("sbx-1");
    alerts.sandboxRemoved("sbx-1");
    expect(brief()).toEqual([
      ["memory", "start", 99],
      ["cpu", "start", 100],
      ["oom", "start", 2],
      ["cpu", "end", 100],
      ["memory", "end", 99],
      ["oom", "end", 2],
    ]);
  });

  it("knows nothing of a sandbox that has gone or never was", () => {
    const { alerts, told } = watched();
    alerts.sandboxRemoved("sbx-1");
    sample(alerts, 1, 30, 200, 99);
    alerts.statsRead("sbx-2", { oomKills: 1 });
    expect(told).toEqual([]);
  });
});

const rule = { startAfterMs: 10, endAfterMs: 3 };

/** Values one after the other, one each millisecond; gives the moments at which something changed. */
function changes(values: readonly boolean[], given = rule): readonly string[] {
  let state = initialRuleState;
  return values.flatMap((isOver, atMs) => {
    const stepped = stepRule(given, state, { isOver, atMs });
    state = stepped.state;
    return stepped.change === null ? [] : [`${stepped.change} at ${atMs}`];
  });
}

const times = (count: number, isOver: boolean): boolean[] => Array.from({ length: count }, () => isOver);

describe("stepRule", () => {
  it.each([
    ["starts when the value has been over for so long", times(11, true), ["start at 10"]],
    ["does not start a moment earlier", times(10, true), []],
    ["starts once", times(40, true), ["start at 10"]],
    ["begins to count anew after one value below", [...times(10, true), false, ...times(10, true)], []],
    ["ends when it has been below for so long", [...times(11, true), ...times(4, false)], ["start at 10", "end at 14"]],
    ["does not end before", [...times(11, true), ...times(3, false), true, ...times(3, false)], ["start at 10"]],
    [
      "starts again after its end",
      [...times(11, true), ...times(4, false), ...times(11, true)],
      ["start at 10", "end at 14", "start at 25"],
    ],
    ["says nothing of a value that is never over", times(30, false), []],
  ])("%s", (_, values, expected) => {
    expect(changes(values)).toEqual(expected);
  });

  it("starts at once where nothing is to be waited for", () => {
    expect(changes([true], { startAfterMs: 0, endAfterMs: 3 })).toEqual(["start at 0"]);
  });
});
