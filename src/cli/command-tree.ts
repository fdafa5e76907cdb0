import { chosenRuntimeNames, languageNames, languageTable } from "../languages/language-table.ts";
import type { Command, Option } from "commander";
import { engineNames } from "../config/engine-words.ts";
import { agentNames } from "../policy/known-agents.ts";
import { mcpClients } from "../mcp/clients.ts";
import { isolationLevels } from "../operations/contract/wire-values.ts";

/** Shells that completion supports. */
export const completedShells = ["bash", "zsh", "fish"] as const;
export type CompletedShell = (typeof completedShells)[number];

/** One option of a command. */
interface OptionNode {
  /** As help shows it: `-c, --code <code>`. */
  readonly flags: string;
  /** `--code`. */
  readonly long: string;
  readonly description: string;
  /** Values that it may have; empty: none, or any. */
  readonly values: readonly string[];
}

/** One command, by the words that name it, such as `mcp install`; none for the program itself. */
export interface CommandNode {
  readonly words: readonly string[];
  readonly description: string;
  /** Names of its subcommands. */
  readonly commands: readonly string[];
  readonly arguments: readonly { readonly text: string; readonly description: string }[];
  readonly options: readonly OptionNode[];
  /** Options of the commands above it, which it takes too. */
  readonly inherited: readonly OptionNode[];
  /** What its arguments may be; empty: anything. */
  readonly values: readonly string[];
  /** Whether its arguments name live sandboxes. */
  readonly takesSandboxes: boolean;
}

/** The program and all its commands, each before those below it. */
export function commandNodes(
  command: Command,
  words: readonly string[] = [],
  inherited: readonly OptionNode[] = [],
): readonly CommandNode[] {
  const node: CommandNode = {
    words,
    description: command.description(),
    commands: command.commands.map((each) => each.name()),
    arguments: command.registeredArguments.map((argument) => ({
      text: `${argument.required ? "" : "["}${argument.name()}${argument.variadic ? "..." : ""}${argument.required ? "" : "]"}`,
      description: argument.description,
    })),
    options: command.options.map(optionNode),
    inherited,
    values: valuesOfArguments(words),
    takesSandboxes: takesSandboxes(words),
  };
  const down = [...inherited, ...node.options];
  return [node, ...command.commands.flatMap((each) => commandNodes(each, [...words, each.name()], down))];
}

function optionNode({ flags, long, description, argChoices }: Option): OptionNode {
  const name = long ?? flags;
  return { flags, long: name, description, values: valuesOfOption(name, argChoices) };
}

/** Values of options, wherever these are taken; others have the choices that the parser checks. */
const ofOptions: Readonly<Record<string, readonly string[]>> = {
  "--engine": ["auto", ...engineNames],
  "--language": [...languageNames, ...languageTable.flatMap(({ shortNames }) => shortNames)],
  "--runtime": chosenRuntimeNames,
  "--network": ["none", "registries", "open"],
  "--min-isolation": isolationLevels,
};

/** Values of the first argument, by the command's words. */
const ofArguments: Readonly<Record<string, readonly string[]>> = {
  "mcp install": mcpClients.map(({ name }) => name),
  completion: completedShells,
  agent: agentNames,
};

/** Commands that take a live sandbox. */
const ofSandboxes: ReadonlySet<string> = new Set(["rm", "stats", "logs", "exec", "shell", "cp"]);

/** What may stand behind an option; empty: anything. */
function valuesOfOption(long: string, choices: readonly string[] = []): readonly string[] {
  return choices.length > 0 ? choices : (ofOptions[long] ?? []);
}

/** What a command's arguments may be; empty: anything. */
function valuesOfArguments(words: readonly string[]): readonly string[] {
  return ofArguments[words.join(" ")] ?? [];
}

/** Whether a command takes the names and ids of live sandboxes. */
function takesSandboxes(words: readonly string[]): boolean {
  return ofSandboxes.has(words.join(" "));
}
