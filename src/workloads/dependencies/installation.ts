import type { InstallerName } from "./installer.ts";
import type { ProjectTools } from "./project-tools.ts";

/** What to install: a shell line of the request, what the project's own files say, or nothing. */
export type Installation = { readonly line: string } | { readonly installer: InstallerName } | null;

export interface InstallationQuestion {
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
