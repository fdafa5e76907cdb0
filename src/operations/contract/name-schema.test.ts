import { describe, expect, it } from "vitest";
import { nameSchema } from "./name-schema.ts";

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
