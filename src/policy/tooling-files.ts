import type { toolingFilesModes } from "../operations/contract/wire-values.ts";

/** Weakest first: changes are named after each command; or what exists cannot be changed, as far as an engine can. */
export type ToolingFilesMode = (typeof toolingFilesModes)[number];

/** Files and folders of a project through which it runs code on its owner's machine, and what reads them there. */
interface ToolingFiles {
  readonly readBy: string;
  /** From the project's root; of a folder everything in it. In a name right there, one `*` stands for any characters. */
  readonly paths: readonly string[];
}

/**
 * What the tools of a project's owner run by themselves, without being asked to run the project (SPEC MO2). Beside
 * these the git folders of the project and of the repositories in it are looked at; `tooling_paths` of the
 * configuration adds to them; docs/environments.md lists them. Not here: what only runs when the owner runs the project,
 * such as scripts of package.json, Makefiles and the configuration of linters.
 */
const toolingFiles: readonly ToolingFiles[] = [
  {
    readBy: "git hooks",
    paths: [
      ...[".githooks", ".husky", ".pre-commit-config.yaml", "lefthook.yml", "lefthook-local.yml", ".lefthook.yml"],
      ...[".lefthook-local.yml", ".lefthook", ".overcommit.yml"],
    ],
  },
  {
    // Their configuration has hooks and aliases. Newer versions of jj keep it elsewhere and take these over.
    readBy: "Mercurial, Sapling and Jujutsu",
    paths: [
      ".hg/hgrc",
      ".hg/hgrc-not-shared",
      ".hg/sharedpath",
      ".sl/config",
      ".jj/repo/config.toml",
      ".jj/workspace-config.toml",
    ],
  },
  {
    // `*.code-workspace` has tasks and settings; .luarc names plugins that the language server runs.
    readBy: "editors",
    paths: [
      ...[".vscode", ".idea", ".fleet", ".zed", ".helix", ".nvim.lua", ".nvimrc", ".exrc", ".vimrc", ".dir-locals.el"],
      ...[
        ".dir-locals-2.el",
        ".devcontainer",
        ".devcontainer.json",
        ".vs",
        "*.code-workspace",
        ".luarc.json",
        ".luarc.jsonc",
      ],
      ...[".lazy.lua"],
    ],
  },
  {
    readBy: "agents",
    paths: [
      ...[".mcp.json", "mcp.json", ".claude", ".cursor", ".codex", ".gemini", ".windsurf", ".continue", ".opencode"],
      ...["opencode.json", "opencode.jsonc", ".roo", ".kiro", ".amazonq", ".junie", ".qwen", ".aider.conf.yml"],
      ...[".pi", ".factory", ".crush.json", "crush.json"],
    ],
  },
  {
    readBy: "shells and what sets up their environment",
    paths: [
      ...[".envrc", ".mise.toml", "mise.toml", ".mise.local.toml", "mise.local.toml", ".mise", ".config/mise"],
      ...[".config/mise.toml", ".autoenv", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile"],
      ...[".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".config/fish", ".tmux.conf", ".screenrc"],
    ],
  },
  {
    readBy: "package managers and runtimes",
    paths: [
      ...[".npmrc", ".yarnrc", ".yarnrc.yml", ".yarn/releases", ".yarn/plugins", ".pnpmfile.cjs", ".pnpmfile.mjs"],
      ...["bunfig.toml", ".bunfig.toml", ".cargo", ".mvn", "pip.conf", ".condarc"],
    ],
  },
  { readBy: "debuggers", paths: [".gdbinit", ".lldbinit", ".pdbrc"] },
  {
    // Each runs the one in the folder that it is started in.
    readBy: "interactive languages and documents",
    paths: [
      ...[".Rprofile", ".Renviron", ".ghci", ".irbrc", "irb.rc", "_irbrc", "$irbrc", ".pryrc", ".iex.exs"],
      ...["jupyter_*config.py", "jupyter_*config.json", "latexmkrc", ".latexmkrc"],
    ],
  },
  { readBy: "git, where the project is a home directory", paths: [".gitconfig", ".config/git"] },
];

const tablePaths: readonly string[] = toolingFiles.flatMap(({ paths }) => paths);

/** All paths of the table, without those with a `*`, and those that a deployment adds. */
export function toolingPaths(more: readonly string[]): readonly string[] {
  return [...new Set([...tablePaths.filter((path) => !path.includes("*")), ...more])];
}

/** Those of the table with a `*`. */
export function toolingPatterns(): readonly string[] {
  return tablePaths.filter((path) => path.includes("*"));
}

/** Of names right in a project those that a path with a `*` stands for. */
export function toolingNames(names: readonly string[]): readonly string[] {
  const parts = toolingPatterns().map((pattern) => pattern.split("*"));
  return names.filter((name) =>
    parts.some(
      ([start = "", end = ""]) =>
        name.length >= start.length + end.length && name.startsWith(start) && name.endsWith(end),
    ),
  );
}
