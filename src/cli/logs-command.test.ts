import { expect, it } from "vitest";
import { parseOffset, parseSince } from "./logs-command.ts";

it("reads an offset, and refuses what is none by the option's name", () => {
  expect([parseOffset(undefined), parseOffset("0"), parseOffset("120")]).toEqual([undefined, 0, 120]);
  for (const bad of ["-1", "x", "1.5", "", "9".repeat(16)]) expect(() => parseOffset(bad), bad).toThrow(/--offset/);
});

it("reads a time as so long ago, or as a date", () => {
  const nowMs = Date.parse("2026-11-22T12:00:00Z");
  expect(parseSince(undefined, nowMs)).toBeUndefined();
  expect(parseSince("10m", nowMs)).toBe(nowMs - 600_000);
  expect(parseSince("2026-11-22T11:00:00Z", nowMs)).toBe(nowMs - 3_600_000);
  expect(parseSince("2026-11-22T13:00:00+02:00", nowMs)).toBe(nowMs - 3_600_000);
  for (const bad of ["yesterday", "2026-99-99", ""]) expect(() => parseSince(bad, nowMs), bad).toThrow(/--since/);
});
