import { describe, expect, it } from "vitest";
import { familyOf, groupsOf } from "./process-family.ts";

const row = (id: number, parent: number, group: number, session: number | null = group) => ({
  id,
  parent,
  group,
  session,
});

describe("familyOf", () => {
  it("takes descendants, whatever their groups", () => {
    const rows = [row(1, 0, 1), row(10, 1, 10), row(11, 10, 11), row(12, 11, 12), row(20, 1, 20)];
    expect(familyOf(10, rows)).toEqual([10, 11, 12]);
  });

  it("takes orphans by their group and by their session", () => {
    const rows = [row(1, 0, 1), row(11, 1, 10, null), row(12, 1, 12, 10), row(13, 12, 13, 13), row(20, 1, 20)];
    expect(familyOf(10, rows)).toEqual([11, 12, 13]);
  });

  it("is empty for a program that left nothing", () => {
    expect(familyOf(10, [row(1, 0, 1), row(20, 1, 20)])).toEqual([]);
  });
});

it("has the groups of its members, and never those of the system", () => {
  const rows = [row(1, 0, 1), row(10, 1, 10), row(11, 10, 11), row(12, 1, 10), row(13, 10, 1), row(20, 1, 20)];
  expect(groupsOf(familyOf(10, rows), rows)).toEqual([10, 11]);
});
