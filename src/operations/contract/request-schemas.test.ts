import { describe, expect, it } from "vitest";
import {
  nameSchema,
  hasLabels,
  labelFilterSchema,
  labelsSchema,
  commandOrNothingSchema,
  commandSchema,
  commandsSchema,
} from "./request-schemas.ts";
import { z } from "zod";
import { parseRequest } from "./parse-request.ts";

describe("a name", () => {
  it.each(["a", "build", "web-1", "My.Job_2", "0", "sbx-short", "x".repeat(64)])("may be %j", (name) =>
    expect(nameSchema.safeParse(name).success).toBe(true),
  );

  it.each([
    "",
    "x".repeat(65),
    "two words",
    "-rf",
    "--all",
    ".hidden",
    "a/b",
    "a..b",
    "\u001B[2J",
    "line\nline",
    "n\u0000",
    "naïve",
  ])("may not be %j", (name) => expect(nameSchema.safeParse(name).success).toBe(false));

  it.each(["sbx", "run", "ses", "env", "proc"])("may not have the form of an id that begins with %s", (prefix) =>
    expect(nameSchema.safeParse(`${prefix}-4fz3k2m9q0r5t7w8x1y2`).success).toBe(false),
  );
});

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

describe("the schema of commands", () => {
  const request = z.strictObject({
    command: commandSchema.optional(),
    setup_command: commandOrNothingSchema.optional(),
    setup_commands: commandsSchema(2).optional(),
  });
  const wordsOf = (body: unknown): string => {
    try {
      parseRequest({ request }, body);
      return "accepted";
    } catch (error) {
      return (error as Error).message;
    }
  };

  it("takes both forms", () => {
    for (const command of ["npm test", ["npm", "test"]]) expect(wordsOf({ command })).toBe("accepted");
    for (const setup_command of ["", []]) expect(wordsOf({ setup_command })).toBe("accepted");
    expect(wordsOf({ setup_commands: ["npm ci", ["npm", "test"]] })).toBe("accepted");
  });

  it("counts the words before it looks at any", () => {
    const command = Array.from({ length: 65_001 }, () => 1);
    expect(wordsOf({ command })).toContain("command: expected at most 65000 items, got 65001");
  });

  it.each([
    [{ command: "" }, "command: expected a shell line"],
    [{ command: [] }, "command: expected a shell line"],
    [{ command: ["ls", 1] }, "command: expected a shell line"],
    [{ command: 5 }, "command: expected a shell line"],
    [{ setup_command: 5 }, 'or "" for nothing'],
    [{ setup_commands: ["a", "b", "c"] }, "setup_commands: expected at most 2 items, got 3"],
    [{ setup_commands: [[]] }, "setup_commands[0]: expected a shell line"],
  ])("says of %j what fits", (body, words) => expect(wordsOf(body)).toContain(words));
});
