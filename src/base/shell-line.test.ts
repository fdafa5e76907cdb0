import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { wordsAsShellLine } from "./shell-line.ts";

describe("words as a shell line", () => {
  it.each([
    [["npm", "test"], "npm test"],
    [["node", "--test", "a=b", "x y"], "node --test a=b 'x y'"],
    [["A=1", "env"], "'A=1' env"],
    [["if", "true"], "'if' true"],
  ])("%j is %s", (words, line) => expect(wordsAsShellLine(words)).toBe(line));

  it.runIf(process.platform !== "win32")("reach a program as they are", () => {
    const words = [
      "",
      " ",
      "a b",
      "$HOME",
      "`id`",
      "$(id)",
      "it's",
      '"',
      "\\",
      "*",
      "~",
      "&&",
      "#",
      "a\nb",
      "!",
      "é",
      "A=1",
    ];
    const line = wordsAsShellLine([process.execPath, "-p", "JSON.stringify(process.argv.slice(1))", "--", ...words]);
    expect(JSON.parse(execFileSync("/bin/sh", ["-c", line], { encoding: "utf8" }))).toEqual(words);
  });

  it.runIf(process.platform !== "win32").each(["A=1", "if", "while", "{", "!"])("%s is a program's name", (name) => {
    const line = `${wordsAsShellLine([name, "true"])} 2>/dev/null; echo $?`;
    expect(execFileSync("/bin/sh", ["-c", line], { encoding: "utf8" })).toBe("127\n");
  });
});
