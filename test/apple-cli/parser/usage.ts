import type { ArgumentRow, Command } from "./command-table.ts";

/** How the call without a command looks. */
export const rootUsage = "[--debug] <subcommand>";

const shown: Readonly<Record<ArgumentRow["kind"], (name: string) => string>> = {
  one: (name) => `<${name}>`,
  optional: (name) => `[<${name}>]`,
  some: (name) => `<${name}> ...`,
  many: (name) => `[<${name}> ...]`,
  passthrough: (name) => `[<${name}> ...]`,
};

/** How a command is called, without the word `container`. */
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
