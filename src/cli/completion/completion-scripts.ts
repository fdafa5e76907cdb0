import type { CommandNode } from "./command-tree.ts";

/** Shells that completion supports. */
export const completedShells = ["bash", "zsh", "fish"] as const;
export type CompletedShell = (typeof completedShells)[number];

/** What may come after a command's words. */
const wordsAfter = ({ commands, options }: CommandNode): readonly string[] => [
  ...commands,
  ...options.map(({ long }) => long),
  "--help",
];

/** A shell's `case`: the words of each command. Names of commands and options contain only letters and dashes. */
function cases(nodes: readonly CommandNode[], assign: (words: string) => string): string {
  return nodes.map((node) => `    "${node.words.join(" ")}") ${assign(wordsAfter(node).join(" "))} ;;`).join("\n");
}

/** Finds the longest command that the words before the cursor name. */
const findCommand = (nodes: readonly CommandNode[]): string => {
  const named = nodes.filter(({ words }) => words.length > 0).map(({ words }) => `"${words.join(" ")}"`);
  return `case "\${found:+$found }$word" in\n      ${named.join(" | ")}) found="\${found:+$found }$word" ;;\n    esac`;
};

const bash = (nodes: readonly CommandNode[]): string => `# bash completion of glovebox
_glovebox() {
  local word found= words=
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [ "$word" != -- ] || return
    ${findCommand(nodes)}
  done
  case "$found" in
${cases(nodes, (words) => `words="${words}"`)}
  esac
  # As the bash of macOS can, too.
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
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
  case "$found" in
${cases(nodes, (words) => `candidates=(${words})`)}
  esac
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
    ...node.options.map(
      ({ long, description }) =>
        `complete -c glovebox -n ${quote(seen(node.words))} -l ${long.slice(2)} -d ${quote(description)}`,
    ),
  ]);
  return `# fish completion of glovebox\n${lines.join("\n")}\n`;
};

const scripts = { bash, zsh, fish } as const;

/** The script that makes a shell complete commands and options. */
export function completionScript(shell: CompletedShell, nodes: readonly CommandNode[]): string {
  return scripts[shell](nodes);
}
