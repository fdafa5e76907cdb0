import { describe, expect, it } from "vitest";
import { formatBytes, parseBytes } from "./bytes.ts";

describe("parseBytes", () => {
  it.each([
    ["512m", 536_870_912],
    ["512", 536_870_912],
    ["512MB", 536_870_912],
    ["1g", 1_073_741_824],
    ["1GiB", 1_073_741_824],
    ["1.5 g", 1_610_612_736],
    ["2048k", 2_097_152],
    ["100b", 100],
    ["0", 0],
  ])("reads %j as %d bytes", (text, bytes) => {
    expect(parseBytes(text, "memory")).toBe(bytes);
  });

  it.each(["", "m", "-1m", "1t", "1mb b", "1ib", "1bb", "1e9", "NaN", "Infinity", "one", "9999999999999999g"])(
    "refuses %j with examples and the field's name",
    (text) => {
      expect(() => parseBytes(text, "memory")).toThrow(
        expect.objectContaining({
          errorType: "INVALID_REQUEST",
          context: { field: "memory" },
          message: expect.stringMatching(/^memory: expected a size such as "512m"/) as string,
        }),
      );
    },
  );
});

describe("formatBytes", () => {
  it.each([
    [0, "0 bytes"],
    [1023, "1023 bytes"],
    [2048, "2 KiB"],
    [268_435_456, "256 MiB"],
    [1_610_612_736, "1.5 GiB"],
    [10_737_418_240, "10 GiB"],
  ])("shows %d as %s", (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });
});
