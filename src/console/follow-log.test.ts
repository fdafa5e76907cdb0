import { describe, expect, it } from "vitest";
import { appended, emptyWindow, hasEarlier, prepended, windowBounds, type LogLine } from "./follow-log.ts";

const line = (offset: number, message = `line ${offset}`, more: Partial<LogLine> = {}): LogLine => ({
  ...{ offset, message, stream: "stdout", timestamp: "2026-11-23T04:00:00.000Z" },
  ...more,
});
const lines = (from: number, to: number): LogLine[] =>
  Array.from({ length: to - from }, (_, index) => line(from + index));

describe("a log's window", () => {
  it("takes lines once, in their order", () => {
    const window = appended(appended(emptyWindow, lines(0, 5)), lines(3, 8));
    expect(window.lines.map(({ offset }) => offset)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(window.nextOffset).toBe(8);
  });

  it("holds the newest of a million lines", () => {
    let window = emptyWindow;
    for (let from = 0; from < 1_000_000; from += 50_000) window = appended(window, lines(from, from + 50_000));
    expect(window.lines).toHaveLength(windowBounds.lines);
    expect(window.lines.at(-1)?.offset).toBe(999_999);
    expect(hasEarlier(window)).toBe(true);
  });

  it("holds few lines of many characters", () => {
    const long = "x".repeat(16_384);
    const window = appended(
      emptyWindow,
      lines(0, 1_000).map(({ offset }) => line(offset, long, { partial: true })),
    );
    expect(window.characters).toBeLessThanOrEqual(windowBounds.characters);
    expect(window.lines.at(-1)?.offset).toBe(999);
  });

  it("goes on behind what is missing", () => {
    expect(appended(emptyWindow, [line(10, "missing", { dropped: 90 })]).nextOffset).toBe(100);
  });

  it("takes earlier lines, and gives up the newest for them", () => {
    const full = appended(emptyWindow, lines(20_000, 20_000 + windowBounds.lines));
    const window = prepended(full, lines(19_000, 20_000));
    expect(window.lines[0]?.offset).toBe(19_000);
    expect(window.lines).toHaveLength(windowBounds.lines);
    expect(window).toMatchObject({ isBehind: true, nextOffset: 19_000 + windowBounds.lines });
  });
});
