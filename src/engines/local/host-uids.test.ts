import { describe, expect, it } from "vitest";
import { hasHostUids } from "./host-uids.ts";

describe("hasHostUids", () => {
  it.each([
    ["         0          0 4294967295\n", true],
    ["         0       1000          1\n", false],
    ["         0       1000          1\n         1     100000      65536\n", false],
    ["", false],
  ])("of the map %j is %s", (map, expected) => {
    expect(hasHostUids(() => map)).toBe(expected);
  });

  it("needs both maps", () => {
    expect(hasHostUids((path) => (path.includes("gid") ? "0 1000 1\n" : "0 0 4294967295\n"))).toBe(false);
  });
});
