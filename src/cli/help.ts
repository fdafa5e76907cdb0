import { Help, type Command, type Option } from "commander";

/** Headings of options in a long help, in this order; all others stand first, below "Options:". */
const optionGroups: readonly (readonly [heading: string, options: readonly string[]])[] = [
  ["Where it runs:", ["--engine", "--image", "--dockerfile", "--oci-runtime", "--min-isolation"]],
  [
    "What it gets:",
    [
      "--network",
      "--packages",
      "--setup",
      "--env",
      "--secret",
      "--file",
      "--mount",
      "--trusted",
      "--include-ignored",
      "--project",
      "--read-only",
    ],
  ],
  ["Limits:", ["--timeout", "--memory", "--cpus", "--pids", "--disk"]],
  ["What comes out:", ["--artifact", "--output", "--junit", "--ctrf", "--report-file", "--open", "--json"]],
];

/** A help with fewer options is read at a glance. */
const minGrouped = 9;

/** Puts the options of a command, and of those below it, under headings where there are many. */
export function groupOptions(command: Command): void {
  if (command.options.length >= minGrouped) {
    for (const option of command.options) {
      const group = optionGroups.find(([, options]) => options.includes(option.long ?? ""));
      if (group !== undefined) option.helpGroup(group[0]);
    }
  }
  for (const each of command.commands) groupOptions(each);
}

/** An option's line, without the empty list that a repeatable one begins with. */
export function optionDescription(option: Option): string {
  const isEmptyList = Array.isArray(option.defaultValue) && option.defaultValue.length === 0;
  return isEmptyList ? option.description : new Help().optionDescription(option);
}

/** The end of a help: command lines to try, and what to do next. */
export function examplesText(examples: readonly string[], next: string): string {
  const title = examples.length === 1 ? "Example:" : "Examples:";
  return ["", title, ...examples.map((example) => `  ${example}`), "", `Next: ${next}`].join("\n");
}

/** The end of the program's own help. */
export const programHelp: string = examplesText(
  [
    "glovebox run hello.py                  # a program in a fresh sandbox",
    "glovebox run -c 'print(6 * 7)'         # without a file",
    "glovebox test                          # the tests of the project in this folder",
    "glovebox shell                         # a terminal in a sandbox",
    "glovebox mcp install claude-code       # the tools for an agent",
  ],
  "`glovebox doctor` shows what works here; `glovebox COMMAND --help` what a command takes.",
);
