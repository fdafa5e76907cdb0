/** Weakest first: changes are named after each command; or what exists cannot be changed, as far as an engine can. */
export const toolingFilesModes = ["named", "locked"] as const;
export type ToolingFilesMode = (typeof toolingFilesModes)[number];

/** Files and folders of a project through which it runs code on its owner's machine, and what reads them there. */
export interface ToolingFiles {
  readonly readBy: string;
  /** From the project's root; of a folder everything in it. */
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
    readBy: "editors",
    paths: [
      ...[".vscode", ".idea", ".fleet", ".zed", ".helix", ".nvim.lua", ".nvimrc", ".exrc", ".vimrc", ".dir-locals.el"],
      ...[".dir-locals-2.el", ".devcontainer", ".devcontainer.json", ".vs"],
    ],
  },
  {
    readBy: "agents",
    paths: [
      ...[".mcp.json", "mcp.json", ".claude", ".cursor", ".codex", ".gemini", ".windsurf", ".continue", ".opencode"],
      ...["opencode.json", "opencode.jsonc", ".roo", ".kiro", ".amazonq", ".junie", ".qwen", ".aider.conf.yml"],
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
  { readBy: "git, where the project is a home directory", paths: [".gitconfig", ".config/git"] },
];

/** All paths of the table, and those that a deployment adds. */
export function toolingPaths(more: readonly string[]): readonly string[] {
  return [...new Set([...toolingFiles.flatMap(({ paths }) => paths), ...more])];
}
