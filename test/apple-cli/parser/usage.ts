import type { ArgumentRow, Command } from "./command-table.ts";

/** The usage of a call without a command. */
export const rootUsage = "[--debug] <subcommand>";

const shown: Readonly<Record<ArgumentRow["kind"], (name: string) => string>> = {
  one: (name) => `<${name}>`,
  optional: (name) => `[<${name}>]`,
  some: (name) => `<${name}> ...`,
  many: (name) => `[<${name}> ...]`,
  passthrough: (name) => `[<${name}> ...]`,
};

/** The usage of a command, without the word `container`. */
export function usageOf(command: Command): string {
  const options =
    command.options.length > 3
      ? ["[<options>]"]
      : command.options.map(({ names, value }) => {
          const name = names.find((each) => each.startsWith("--")) ?? names[0] ?? "";
          return value === undefined ? `[${name}]` : `[${name} <${value}>]`;
        });
  return [command.name, ...options, ...command.arguments.map(({ name, kind }) => shown[kind](name))].join(" ");
}
