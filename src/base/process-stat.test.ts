import { describe, expect, it } from "vitest";
import { parseProcessStat } from "./process-stat.ts";

describe("parseProcessStat", () => {
  /** Fields from the parent's number on. */
  const rest = (threads: number): string => `7 40 39 ${"0 ".repeat(13)}${threads} 0 777 0 0`;

  it.each([
    [`42 (a) b (c) S) S ${rest(1)}`, "no thread"],
    [`42 (name) Z ${rest(1)}`, "all threads"],
    [`42 (Z Z) R ${rest(1)}`, "no thread"],
    [`42 (x) Z 1 1 1 1\n) S ${rest(1)}`, "no thread"],
    [`42 (x) S 1 1 1 1\n) Z ${rest(1)}`, "all threads"],
    [`42 (pool) Z ${rest(2)}`, "the first"],
  ])("reads beyond the program's name: of %j %s has ended", (text, ended) => {
    expect(parseProcessStat(text)).toEqual({
      processId: 42,
      parentId: 7,
      groupId: 40,
      sessionId: 39,
      startTicks: "777",
      firstHasEnded: ended !== "no thread",
      hasEnded: ended === "all threads",
    });
  });
});
