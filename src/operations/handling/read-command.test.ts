import { describe, expect, it } from "vitest";
import { readCommand, readShellLine, readShellLineOrNothing } from "./read-command.ts";

describe("a command", () => {
  it("is a shell line if it is a string, and a program and its arguments if it is a list", () => {
    expect(readCommand("ls | wc -l", "command")).toEqual(["sh", "-c", "ls | wc -l"]);
    expect(readCommand(["ls", "a | b"], "command")).toEqual(["ls", "a | b"]);
  });

  it("of a project is a shell line, in which the words of a list are literal", () => {
    expect(readShellLine("npm test && true", "command")).toBe("npm test && true");
    expect(readShellLine(["npm", "test", "--", "-t", "a && b"], "command")).toBe("npm test -- -t 'a && b'");
  });

  it("that installs may be nothing", () => {
    for (const nothing of ["", "  ", []]) expect(readShellLineOrNothing(nothing, "setup_command")).toBe("");
    expect(readShellLineOrNothing(["npm", "ci"], "setup_command")).toBe("npm ci");
  });

  it.each([
    ["an empty line", "", "command"],
    ["blanks", "  ", "command"],
    ["NUL in a line", "ls \0", "command"],
    ["half a character", "echo \uD800", "command"],
    ["a line too long", "é".repeat(65_536), "command"],
    ["an empty list", [], "command[0]"],
    ["no program", ["", "a"], "command[0]"],
    ["NUL in an argument", ["ls", "\0"], "command[1]"],
  ])("is refused by its field: %s", (_, given, field) => {
    for (const read of [readCommand, readShellLine]) {
      expect(() => read(given, "command")).toThrow(
        expect.objectContaining({ errorType: "INVALID_REQUEST", context: expect.objectContaining({ field }) }),
      );
    }
  });
});
