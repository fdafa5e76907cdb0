import { describe, expect, it } from "vitest";
import { parseProcessStat } from "./process-stat.ts";

describe("parseProcessStat", () => {
  const rest = Array.from({ length: 30 }, (_, index) => (index === 18 ? "777" : "0")).join(" ");

  it.each([
    [`42 (a) b (c) S) S ${rest}`, false],
    [`42 (name) Z ${rest}`, true],
    [`42 (Z Z) R ${rest}`, false],
  ])("reads beyond the program's name: %s", (text, hasEnded) => {
    expect(parseProcessStat(text)).toEqual({ processId: 42, startTicks: "777", hasEnded });
  });
});
