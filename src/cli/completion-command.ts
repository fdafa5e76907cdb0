import type { Command, Option } from "commander";
import { invalidField } from "../errors/glovebox-error.ts";
import type { CommandIo, SetExitCode } from "./command-io.ts";
import { chosenRuntimeNames, languageNames, languageTable } from "../languages/language-table.ts";
import { engineNames } from "../config/engine-words.ts";
import { agentNames } from "../policy/known-agents.ts";
import { mcpClients } from "../mcp/clients.ts";
import { isolationLevels } from "../operations/contract/wire-values.ts";

const isCompleted = (shell: string): shell is CompletedShell => (completedShells as readonly string[]).includes(shell);

/**
 * `glovebox completion SHELL`: prints the script with which a shell completes all commands and options of `program`.
 */
export function addCompletionCommand(program: Command, io: CommandIo, setExitCode: SetExitCode): void {
  program
    .command("completion")
    .argument("<shell>", completedShells.join(", "))
    .addHelpText(
      "after",
      [
        "",
        'bash: add to ~/.bashrc:  eval "$(glovebox completion bash)"',
        'zsh:  add to ~/.zshrc, behind compinit:  eval "$(glovebox completion zsh)"',
        "fish: glovebox completion fish > ~/.config/fish/completions/glovebox.fish",
      ].join("\n"),
    )
    .action((shell: string) => {
      if (!isCompleted(shell)) throw invalidField("SHELL", `one of ${completedShells.join(", ")}`, shell);
      io.stdout.write(completionScript(shell, commandNodes(program)));
      setExitCode(0);
    });
}

/** What may come after a command's words. */
const wordsAfter = ({ commands, options, values }: CommandNode): readonly string[] => [
  ...commands,
  ...values,
  ...options.map(({ long }) => long),
  "--help",
];

/**
 * Prints names and ids of live sandboxes. The command of the search path, whatever was typed: completing a line must not run
 * a program that its folder offers.
 */
const listNames = "command glovebox ps --names 2>/dev/null";

/** A shell's `case`: the words of each command. Names of commands, options and values need no quotes. */
function cases(nodes: readonly CommandNode[], assign: (words: string) => string): string {
  return nodes.map((node) => `    "${node.words.join(" ")}") ${assign(wordsAfter(node).join(" "))} ;;`).join("\n");
}

/** The same for the values of the option before the cursor, behind the words of its command. */
function valueCases(nodes: readonly CommandNode[], assign: (words: string) => string): string {
  const byValues = new Map<string, string[]>();
  for (const { words, options, inherited } of nodes) {
    for (const { long, values } of [...inherited, ...options]) {
      if (values.length === 0) continue;
      const place = `"${[...words, long].join(" ")}"`;
      byValues.set(values.join(" "), [...(byValues.get(values.join(" ")) ?? []), place]);
    }
  }
  return [...byValues].map(([values, places]) => `    ${places.join(" | ")}) ${assign(values)} ;;`).join("\n");
}

const quotedWords = (nodes: readonly CommandNode[]): string =>
  nodes.map(({ words }) => `"${words.join(" ")}"`).join(" | ");

/** Finds the longest command that the words before the cursor name. */
const findCommand = (nodes: readonly CommandNode[]): string => {
  const named = nodes.filter(({ words }) => words.length > 0);
  return `case "\${found:+$found }$word" in\n      ${quotedWords(named)}) found="\${found:+$found }$word" ;;\n    esac`;
};

const ofSandboxes = (nodes: readonly CommandNode[]): string =>
  quotedWords(nodes.filter(({ takesSandboxes }) => takesSandboxes));

const bash = (nodes: readonly CommandNode[]): string => `# bash completion of glovebox
_glovebox() {
  local word found= words= last="\${COMP_WORDS[COMP_CWORD]}"
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [ "$word" != -- ] || return
    ${findCommand(nodes)}
  done
  case "$found \${COMP_WORDS[COMP_CWORD-1]}" in
${valueCases(nodes, (words) => `COMPREPLY=($(compgen -W "${words}" -- "$last")); return`)}
  esac
  case "$found" in
${cases(nodes, (words) => `words="${words}"`)}
  esac
  case "$last" in
    -*) ;;
    *) case "$found" in ${ofSandboxes(nodes)}) words="$words $(${listNames})" ;; esac ;;
  esac
  # As the bash of macOS can, too.
  COMPREPLY=($(compgen -W "$words" -- "$last"))
}
complete -o default -F _glovebox glovebox
`;

const zsh = (nodes: readonly CommandNode[]): string => `#compdef glovebox
_glovebox() {
  local word found=
  local -a candidates
  for word in "\${(@)words[2,CURRENT-1]}"; do
    [[ "$word" != -- ]] || { _files; return }
    ${findCommand(nodes)}
  done
  case "$found \${words[CURRENT-1]}" in
${valueCases(nodes, (words) => `candidates=(${words}); compadd -- "\${candidates[@]}"; return`)}
  esac
  case "$found" in
${cases(nodes, (words) => `candidates=(${words})`)}
  esac
  if [[ "\${words[CURRENT]}" != -* ]]; then
    case "$found" in ${ofSandboxes(nodes)}) candidates+=(\${(f)"$(${listNames})"}) ;; esac
  fi
  compadd -- "\${candidates[@]}"
  _files
}
compdef _glovebox glovebox
`;

const quote = (text: string): string => `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`;

const fish = (nodes: readonly CommandNode[]): string => {
  const seen = (words: readonly string[]): string =>
    words.map((word) => `__fish_seen_subcommand_from ${word}`).join("; and ") || "true";
  const lines = nodes.flatMap((node) => [
    ...node.commands.map((name) => {
      const own = nodes.find(({ words }) => words.join(" ") === [...node.words, name].join(" "));
      const none = `not __fish_seen_subcommand_from ${node.commands.join(" ")}`;
      const condition = node.words.length === 0 ? none : `${seen(node.words)}; and ${none}`;
      return `complete -c glovebox -n ${quote(condition)} -a ${name} -d ${quote(own?.description ?? "")}`;
    }),
    ...node.options.map(({ long, description, values }) => {
      const given = values.length === 0 ? "" : ` -x -a ${quote(values.join(" "))}`;
      return `complete -c glovebox -n ${quote(seen(node.words))} -l ${long.slice(2)}${given} -d ${quote(description)}`;
    }),
    ...(node.values.length === 0
      ? []
      : [`complete -c glovebox -n ${quote(seen(node.words))} -f -a ${quote(node.values.join(" "))}`]),
    ...(node.takesSandboxes
      ? [`complete -c glovebox -n ${quote(seen(node.words))} -a ${quote(`(${listNames})`)}`]
      : []),
  ]);
  const help = "complete -c glovebox -l help -d 'show this help'";
  return `# fish completion of glovebox\n${[...lines, help].join("\n")}\n`;
};

const scripts = { bash, zsh, fish } as const;

/** The script that makes a shell complete commands, options, their values, and the names of live sandboxes. */
function completionScript(shell: CompletedShell, nodes: readonly CommandNode[]): string {
  return scripts[shell](nodes);
}

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
const withSandboxes: ReadonlySet<string> = new Set(["rm", "stats", "logs", "exec", "shell", "cp"]);

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
  return withSandboxes.has(words.join(" "));
}
