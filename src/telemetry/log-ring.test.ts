import { expect, it } from "vitest";
import { LogRing } from "./log-ring.ts";

const source = { sandbox: "sbx-1", principal: "ann" };
const part = { stampMs: 0, stream: "stdout", text: "x", count: 1, partial: false, dropped: 0 } as const;

it("counts exactly what a reader has missed, whatever was missing before", () => {
  const ring = new LogRing(source, { maxBytes: 162 * 10, now: () => 0 });
  for (let count = 0; count < 5; count += 1) ring.push(part);
  ring.push({ ...part, dropped: 1_000 });
  for (let count = 0; count < 6; count += 1) ring.push(part);
  expect(ring.nextOffset).toBe(1_011);
  const counted = (offset: number): number =>
    ring.read(offset, 100).entries.reduce((sum, { dropped }) => sum + Math.max(1, dropped), 0);
  for (const offset of [0, 1, 4, 5, 6, 500, 1_004, 1_005, 1_010, 1_011])
    expect(counted(offset), `${offset}`).toBe(1_011 - offset);
  expect(
    ring
      .read(0, 100)
      .entries.map(({ offset, dropped }) => [offset, dropped])
      .slice(0, 5),
  ).toEqual([
    [0, 2],
    [2, 0],
    [3, 0],
    [4, 0],
    [5, 1_000],
  ]);
  expect(ring.read(700, 1).entries).toMatchObject([{ offset: 700, dropped: 305 }]);
  expect(ring.read(2_000, 10)).toEqual({ entries: [], nextOffset: 1_011 });
});

it("reads blocks of lines from any of them on, and forgets them as a whole", () => {
  const ring = new LogRing(source, { maxBytes: 500, now: () => 0 });
  const block = { ...part, text: "a\nb\nc", count: 3 };
  for (let count = 0; count < 4; count += 1) ring.push(block);
  const { entries, nextOffset } = ring.read(7, 4);
  expect(entries.map(({ offset, message }) => [offset, message])).toEqual([
    [7, "b"],
    [8, "c"],
    [9, "a"],
    [10, "b"],
  ]);
  expect(nextOffset).toBe(11);
  expect(ring.firstOffset).toBe(6);
  expect(ring.read(1, 2).entries.map(({ offset, dropped }) => [offset, dropped])).toEqual([
    [1, 5],
    [6, 0],
    [7, 0],
  ]);
});
