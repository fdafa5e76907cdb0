import type { InstallerName } from "./installers.ts";

/** The purpose of a default image. */
export type ImageName = "python" | "javascript" | "bun";

/** How a project's tests and previews get what they need. */
export interface ProjectTools {
  readonly image: ImageName;
  /** Null: there is nothing to install. */
  readonly installer: InstallerName | null;
}

/** One row per file that determines how a project's dependencies are installed; the first that exists counts. */
const lockfiles: readonly { readonly name: RegExp; readonly image: ImageName; readonly installer: InstallerName }[] = [
  { name: /^bun\.lockb?$/, image: "bun", installer: "bun" },
  { name: /^pnpm-lock\.yaml$/, image: "javascript", installer: "pnpm" },
  { name: /^yarn\.lock$/, image: "javascript", installer: "yarn" },
  { name: /^(?:package-lock|npm-shrinkwrap)\.json$/, image: "javascript", installer: "npm" },
  { name: /^uv\.lock$/, image: "python", installer: "uv" },
  { name: /^poetry\.lock$/, image: "python", installer: "poetry" },
  { name: /^requirements\.txt$/, image: "python", installer: "requirements" },
];

const languages: readonly { readonly name: RegExp; readonly image: ImageName }[] = [
  { name: /^package\.json$/, image: "javascript" },
  { name: /^(?:pyproject\.toml|setup\.(?:py|cfg)|tox\.ini|pytest\.ini|.+\.py)$/, image: "python" },
  { name: /\.[cm]?[jt]sx?$/, image: "javascript" },
];

/** Programs that exist in only one of the images. */
const programs: readonly { readonly words: RegExp; readonly image: ImageName }[] = [
  { words: /\b(?:python3?|pytest|py\.test|uv|poetry|tox)\b/, image: "python" },
  { words: /\bbunx?\b/, image: "bun" },
  { words: /\b(?:node|npm|npx|pnpm|yarn|jest|vitest|mocha)\b/, image: "javascript" },
];

/**
 * The image and the installation for a project, by its command, its lockfile and its language (SPEC TE4).
 * @param names of entries in the project's folder
 */
export function projectTools(command: string, names: readonly string[]): ProjectTools {
  const byCommand = programs.find(({ words }) => words.test(command))?.image;
  const locks = lockfiles.filter(({ name }) => names.some((each) => name.test(each)));
  const lock = locks.find(({ image }) => byCommand === undefined || image === byCommand);
  const language = languages.find(({ name }) => names.some((each) => name.test(each)));
  const image = byCommand ?? lock?.image ?? language?.image ?? "python";
  const unlocked = image === "python" && names.includes("pyproject.toml") ? "pyproject" : null;
  return { image, installer: lock?.installer ?? unlocked };
}

/** Whether `bun test` may run: its reports are not signed, so they are accepted only where expected. */
export function expectsBun(command: string, names: readonly string[]): boolean {
  return /\bbun\b/.test(command) || names.some((name) => /^bun\.lockb?$|^bunfig\.toml$/.test(name));
}

/** What to install: a shell line of the request, what the project's own files say, or nothing. */
export type Installation = { readonly line: string } | { readonly installer: InstallerName } | null;

interface InstallationQuestion {
  /** From the request; undefined: depends on the project; empty: nothing. */
  readonly setupCommand: string | undefined;
  /** Whether the copy includes files that git ignores, such as dependencies. */
  readonly includeIgnored: boolean;
  /** Names in the project's folder. */
  readonly names: readonly string[];
  readonly tools: ProjectTools;
}

/** How a project gets its dependencies (SPEC TE4). */
export function chooseInstallation(question: InstallationQuestion): Installation {
  const { setupCommand, includeIgnored, names, tools } = question;
  if (setupCommand !== undefined) return setupCommand.trim() === "" ? null : { line: setupCommand };
  // Dependencies that are copied need no installation.
  const isCopied = includeIgnored && names.includes("node_modules") && tools.image !== "python";
  return isCopied || tools.installer === null ? null : { installer: tools.installer };
}
