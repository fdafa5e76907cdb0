import { expect, it } from "vitest";
import { excessOf } from "./retention.ts";
import { TestReports } from "./test-reports.ts";

const totals = (...each: readonly number[]) => each.map((total, index) => ({ principal: `p${index}`, total }));

it.each([
  ["nobody where all fits", totals(40, 60), 100, {}],
  ["only who has most", totals(500, 30, 20), 100, { p0: 450 }],
  ["those who have most, down to one level", totals(90, 80, 10), 100, { p0: 45, p1: 35 }],
  ["everybody where all have the same", totals(50, 50, 50), 90, { p0: 20, p1: 20, p2: 20 }],
  ["one alone", totals(150), 100, { p0: 50 }],
  ["all of it where nothing may stay", totals(3, 2), 0, { p0: 3, p1: 2 }],
])("gives up what is too much: %s", (_, each, max, expected) => {
  expect(Object.fromEntries(excessOf(each, max))).toEqual(expected);
});

it("keeps a small report in memory, however much another principal's tests write", async () => {
  const reports = new TestReports(null, () => 0);
  reports.keep({ id: "small", principal: "ann" }, new Uint8Array(10));
  for (let count = 0; count < 20; count += 1)
    reports.keep({ id: `large-${count}`, principal: "eve" }, new Uint8Array(2_000_000));
  expect(await reports.find({ id: "small", principal: "ann" })).toHaveLength(10);
  expect(await reports.find({ id: "large-0", principal: "eve" })).toBeNull();
  expect(await reports.find({ id: "large-19", principal: "eve" })).toHaveLength(2_000_000);
});
