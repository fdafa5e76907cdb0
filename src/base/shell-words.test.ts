import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { wordsAsShellLine, toolCommand } from "./shell-words.ts";

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

describe("toolCommand", () => {
  it.each(["linux", "darwin"] as const)("starts the tool itself on %s, whatever its words are", (platform) => {
    expect(toolCommand("npm", ["pack", "a b&c"], platform)).toEqual(["npm", ["pack", "a b&c"]]);
  });

  it("goes through the shell on Windows, where npm is a script", () => {
    const words = ["pack", "@oven/bun-linux-x64@1.4.5", "--pack-destination", ".", "--json"];
    expect(toolCommand("npm", words, "win32")).toEqual(["cmd.exe", ["/d", "/s", "/c", "npm", ...words]]);
  });

  it.each(["a b", "a&calc", "%PATH%", "a^b", 'a"b', "C:\\Users\\Ann Lee", ""])(
    "gives the shell no word that it could read otherwise: %j",
    (word) => {
      expect(() => toolCommand("npm", [word], "win32")).toThrow("no word");
    },
  );
});
