import { describe, expect, it } from "vitest";
import { gibibyte } from "../base/bytes.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import type { LimitKind } from "../policy/limits.ts";
import { withLimitAdvice, readCommand, readShellLine, readShellLineOrNothing, decodeBase64 } from "./settle.ts";
import { outcomeOf } from "../../test/helpers/outcome-of.ts";

const ceilings = { timeoutMs: 60_000, memoryBytes: gibibyte };
const advised = (error: GloveboxError, kind: LimitKind): string =>
  withLimitAdvice(error, { kind, ceilings }).suggestion;
const late = (seconds: number) => new GloveboxError("TIMEOUT", "late", { context: { timeout_seconds: seconds } });
const full = (limit: number) => new GloveboxError("OOM_KILLED", "full", { context: { limit_mb: limit } });

describe("what to do where a limit was too low", () => {
  it("names the field that the call takes, and how far it goes", () => {
    expect(advised(late(30), "execute")).toMatch(/, or raise timeout_seconds \(at most 60 s\)\.$/);
    expect(advised(full(512), "execute")).toMatch(/, or raise limits\.memory_mb \(at most 1024 MiB\)\.$/);
  });

  it.each([
    ["session", "begin another session"],
    ["environment", "create another environment"],
  ] as const)("is another place where a %s keeps its memory", (kind, words) => {
    expect(advised(full(512), kind)).toContain(`${words} with a higher limits.memory_mb (at most 1024 MiB)`);
  });

  it("is no higher limit where there is none", () => {
    for (const error of [late(60), full(1024)]) {
      expect(advised(error, "session")).toMatch(/the limit of (60 s|1024 MiB) is the highest here\.$/);
      expect(advised(error, "session")).not.toMatch(/timeout_seconds|memory_mb/);
    }
  });

  it("leaves other errors as they are", () => {
    const other = new GloveboxError("TIMEOUT", "The sandbox did not answer.", { suggestion: "End it." });
    expect(withLimitAdvice(other, { kind: "execute", ceilings })).toBe(other);
  });
});

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

describe("decodeBase64", () => {
  it.each([
    ["", ""],
    ["aGVsbG8=", "hello"],
    ["aGVsbG8", "hello"],
    ["aGVs\r\nbG8=\n", "hello"],
    ["_-8", "\xff\xef"],
  ])("reads %j", (text, expected) => {
    expect(decodeBase64(text, "content").toString("latin1")).toBe(expected);
  });

  it.each(["print('hello')", "A=\nA=\n", "aGVsbG8==x", "a", "aaaaa", "aGVs*", "====", "aGVsbG8===", "é".repeat(3)])(
    "refuses %j, which would be read as something else",
    async (text) => {
      expect(await outcomeOf(Promise.resolve().then(() => decodeBase64(text, "files[0].content")))).toMatchObject({
        errorType: "INVALID_REQUEST",
        context: { field: "files[0].content" },
      });
    },
  );
});
