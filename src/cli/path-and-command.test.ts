import { Command } from "commander";
import { expect, it } from "vitest";
import { pathAndCommand, type PathAndCommand } from "./path-and-command.ts";

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
