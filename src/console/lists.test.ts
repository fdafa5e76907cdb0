import { describe, expect, it } from "vitest";
import type { WireAlert } from "../operations/contract/program-schema.ts";
import { joinAlerts } from "./lists.ts";

let second = 0;
const alert = (change: Partial<WireAlert>): WireAlert => ({
  container_id: "sbx-1",
  timestamp: new Date((second += 1) * 1_000).toISOString(),
  kind: "network",
  value: 1,
  threshold: 0,
  state: "start",
  message: "A connection to a.example:443 was refused. No rule allows it.",
  suggestion: "Add it.",
  ...change,
});

describe("alerts", () => {
  it("are shown once, with their end and what they counted by then, the newest first", () => {
    const other = alert({ container_id: "sbx-2", kind: "cpu", value: 97, threshold: 90, message: "CPU in use: 97 %." });
    const started = alert({});
    const ended = alert({ state: "end", value: 3, message: "3 connections were refused, the first to a.example:443." });
    expect(joinAlerts([other, started, ended])).toEqual([
      {
        sandboxId: "sbx-1",
        kind: "network",
        cause: "A connection to a.example:443 was refused.",
        details: "No rule allows it.",
        suggestion: "Add it.",
        startedAt: started.timestamp,
        endedAt: ended.timestamp,
        total: 3,
      },
      expect.objectContaining({ sandboxId: "sbx-2", startedAt: other.timestamp, endedAt: null, total: null }),
    ]);
  });

  it("of one kind in one sandbox are several when one begins after the end of another", () => {
    const ofKind = { kind: "memory", threshold: 90 } as const;
    const states = ["start", "end", "start"] as const;
    const rows = joinAlerts(states.map((state) => alert({ ...ofKind, state, value: state === "end" ? 99 : 95 })));
    expect(rows.map(({ endedAt }) => endedAt !== null)).toEqual([false, true]);
    expect(rows.every(({ total }) => total === null)).toBe(true);
  });

  it("that say the same again are one, which keeps its first time and says the newest", () => {
    const [first, second] = [1, 2].map((value) => alert({ kind: "oom", value, message: `${value} killed.` }));
    expect(joinAlerts([first!, second!])).toMatchObject([{ startedAt: first!.timestamp, cause: "2 killed." }]);
  });

  it("of several errors each have the one end of all", () => {
    const errors = ["a.ts:1: TypeError\n at a", "b.ts:2: Error"].map((message) =>
      alert({ kind: "preview_error", message }),
    );
    const end = alert({ kind: "preview_error", state: "end", value: 2 });
    const again = alert({ kind: "preview_error", message: "c.ts:3: Error" });
    expect(joinAlerts([...errors, end, again])).toMatchObject([
      { cause: "c.ts:3: Error", endedAt: null },
      { cause: "b.ts:2: Error", endedAt: end.timestamp, total: null },
      { cause: "a.ts:1: TypeError", details: "at a", endedAt: end.timestamp },
    ]);
  });

  it("whose start is too old to be known are shown by their end", () => {
    const end = alert({ state: "end", value: 3, message: "3 connections were refused." });
    expect(joinAlerts([end])).toMatchObject([
      { cause: "3 connections were refused.", startedAt: null, endedAt: end.timestamp, total: null },
    ]);
  });

  it("without an end of a sentence are a cause as a whole, however long", () => {
    const message = "x".repeat(5_000);
    expect(joinAlerts([alert({ message })])).toMatchObject([{ cause: message, details: "" }]);
    expect(joinAlerts([alert({ message: "" })])).toMatchObject([{ cause: "", details: "" }]);
  });
});
