import { describe, expect, it } from "vitest";
import {
  requestOfOptions,
  languageOfOption,
  languageOfProgram,
  pathAndCommand,
  type PathAndCommand,
} from "./run-options.ts";
import { Command } from "commander";

const secretsOf = (...secret: string[]): unknown =>
  requestOfOptions({ env: [], file: [], artifact: [], secret }, { code: "", file: null, args: [] })["secrets"];

describe("--secret", () => {
  it("names a secret, and the variable when it is another", () => {
    expect(secretsOf()).toBeUndefined();
    expect(secretsOf("KEY", "KEY=TOKEN", "OTHER")).toEqual({ KEY: "KEY", TOKEN: "KEY", OTHER: "OTHER" });
  });

  it("refuses a variable that is given twice, without showing what may be a value", () => {
    expect(() => secretsOf("A=sk-value", "B=sk-value")).toThrow(
      expect.objectContaining({
        errorType: "INVALID_REQUEST",
        message: expect.not.stringContaining("sk-value") as string,
      }),
    );
  });
});

describe("languageOfProgram", () => {
  it.each([
    ["a.py", "", "python"],
    ["a.CTS", "#!/usr/bin/env python3\n", "typescript"],
    ["tool", "#!/usr/bin/env python3\nprint(1)", "python"],
    ["tool", "#!/usr/bin/python3.12 -u\r\n", "python"],
    ["tool", "#! /usr/bin/env -S A=1 node --no-warnings\n", "javascript"],
    ["tool", "#!/usr/local/bin/bun\n", "typescript"],
    [null, "#!/usr/bin/env node\n", "javascript"],
    [null, "print(1)", "python"],
  ])("of %j that begins with %j is %s", (file, code, language) => {
    expect(languageOfProgram(file, code)).toBe(language);
  });

  it.each(["echo", "#!/bin/sh\necho", "", "\n#!/usr/bin/env python3"])("is not guessed from %j", (code) => {
    expect(() => languageOfProgram("tool", code)).toThrow(/--language.*first line/);
  });

  it("has short names, and leaves others to the operation", () => {
    expect(["py", "js", "ts", "python", "cobol"].map(languageOfOption)).toEqual([
      "python",
      "javascript",
      "typescript",
      "python",
      "cobol",
    ]);
  });
});

/** What a command line of a command with `[path] -- [command...]` means. */
function meaningOf(words: readonly string[]): PathAndCommand | undefined {
  let meaning: PathAndCommand | undefined;
  const program = new Command("glovebox").enablePositionalOptions();
  program
    .command("test")
    .argument("[path]")
    .argument("[command...]")
    .option("--json")
    .action((path: string | undefined, command: readonly string[]) => {
      meaning = pathAndCommand(program, path, command);
    });
  program.parse(["test", ...words], { from: "user" });
  return meaning;
}

it.each([
  [[], undefined, []],
  [["--"], undefined, []],
  [["shop"], "shop", []],
  [["shop", "--"], "shop", []],
  [["--", "pytest"], undefined, ["pytest"]],
  [["--json", "--", "npm", "run", "dev"], undefined, ["npm", "run", "dev"]],
  [["shop", "--json", "--", "npm", "test"], "shop", ["npm", "test"]],
  [["--", "npm", "test", "--", "--watch"], undefined, ["npm", "test", "--", "--watch"]],
  [["shop", "--", "npm", "test", "--", "--watch"], "shop", ["npm", "test", "--", "--watch"]],
])("%j: the folder is %j, the command %j", (words, path, command) => {
  expect(meaningOf(words)).toEqual({ path, command });
});
