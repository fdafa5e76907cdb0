import type { Command } from "commander";

/** One command, by the words that name it, such as `mcp install`; none for the program itself. */
export interface CommandNode {
  readonly words: readonly string[];
  readonly description: string;
  /** Names of its subcommands. */
  readonly commands: readonly string[];
  readonly arguments: readonly { readonly text: string; readonly description: string }[];
  readonly options: readonly {
    /** As help shows it: `-c, --code <code>`. */
    readonly flags: string;
    /** `--code`. */
    readonly long: string;
    readonly description: string;
  }[];
}

/** The program and all its commands, each before those below it. */
export function commandNodes(command: Command, words: readonly string[] = []): readonly CommandNode[] {
  const node: CommandNode = {
    words,
    description: command.description(),
    commands: command.commands.map((each) => each.name()),
    arguments: command.registeredArguments.map((argument) => ({
      text: `${argument.required ? "" : "["}${argument.name()}${argument.variadic ? "..." : ""}${argument.required ? "" : "]"}`,
      description: argument.description,
    })),
    options: command.options.map(({ flags, long, description }) => ({ flags, long: long ?? flags, description })),
  };
  return [node, ...command.commands.flatMap((each) => commandNodes(each, [...words, each.name()]))];
}
