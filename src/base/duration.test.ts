import { describe, expect, it } from "vitest";
import { formatDuration, maxDurationMs, parseDuration } from "./duration.ts";

describe("parseDuration", () => {
  it.each([
    ["500ms", 500],
    ["30s", 30_000],
    ["2m", 120_000],
    ["1h", 3_600_000],
    ["90", 90_000],
    ["0", 0],
    ["1.5s", 1500],
    ["0.25", 250],
    [" 10 S ", 10_000],
    ["2147483647ms", maxDurationMs],
  ])("reads %j as %d ms", (text, milliseconds) => {
    expect(parseDuration(text, "timeout")).toBe(milliseconds);
  });

  it.each([
    "",
    " ",
    "s",
    "-1s",
    "+1s",
    "1d",
    "1 hour",
    "1h30m",
    "1e3",
    "NaN",
    "Infinity",
    ".5s",
    "1,5s",
    "0x10",
    "2147483648ms",
    "597h",
  ])("refuses %j with examples and the field's name", (text) => {
    expect(() => parseDuration(text, "timeout")).toThrow(
      expect.objectContaining({
        errorType: "INVALID_REQUEST",
        context: { field: "timeout" },
        message: expect.stringMatching(/^timeout: expected a duration such as "500ms", "30s"/) as string,
      }),
    );
  });
});

describe("formatDuration", () => {
  it.each([
    [0, "0 s"],
    [500, "500 ms"],
    [1500, "1.5 s"],
    [30_000, "30 s"],
    [120_000, "2 min"],
    [90_000, "90 s"],
    [3_600_000, "1 h"],
    [5_400_000, "90 min"],
  ])("shows %d ms as %s", (milliseconds, text) => {
    expect(formatDuration(milliseconds)).toBe(text);
  });
});
