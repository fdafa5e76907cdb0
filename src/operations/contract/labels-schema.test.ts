import { describe, expect, it } from "vitest";
import { hasLabels, labelFilterSchema, labelsSchema } from "./labels-schema.ts";

const many = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, "v"]));

describe("labels", () => {
  it.each([{}, { job: "1" }, { "team.example/Job-1": "" }, { a: "x".repeat(256) }, many(16)])("may be %j", (labels) =>
    expect(labelsSchema.safeParse(labels).success).toBe(true),
  );

  it.each([
    { "": "x" },
    { "-a": "x" },
    { "a=b": "x" },
    { ["a".repeat(64)]: "x" },
    { a: "x".repeat(257) },
    { a: 1 },
    many(17),
    [],
  ])("may not be %j", (labels) => expect(labelsSchema.safeParse(labels).success).toBe(false));

  it("are found by all of a filter, whose values may hold any character", () => {
    const labels = { a: "1", b: "x=y" };
    expect([[], ["a=1"], ["a=1", "b=x=y"], undefined].map((filter) => hasLabels(labels, filter))).toEqual(
      Array(4).fill(true),
    );
    expect([["a=2"], ["a=1", "c="], ["toString="]].map((filter) => hasLabels(labels, filter))).toEqual([
      ...[false, false, false],
    ]);
    for (const bad of ["a", "=1", ""]) expect(labelFilterSchema.safeParse([bad]).success).toBe(false);
  });
});
