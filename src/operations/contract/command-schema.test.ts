import { describe, expect, it } from "vitest";
import { z } from "zod";
import { parseRequest } from "./parse-request.ts";
import { commandOrNothingSchema, commandSchema, commandsSchema } from "./command-schema.ts";

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
