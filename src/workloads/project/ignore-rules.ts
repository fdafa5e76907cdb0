import { GloveboxError } from "../../errors/glovebox-error.ts";
import { parseGitIgnore, type IgnoreRules } from "../../policy/git-ignore.ts";
import type { HostFolder } from "../../base/host-folder.ts";
import { readPlainBytes } from "./read-project.ts";

/** Of one `.gitignore`. */
const maxIgnoreBytes = 1024 * 1024;
/** Of all rules with wildcards that may apply to one path: each costs as much as it is long, times the path's length. */
const maxWildBytes = 16 * 1024;

/** Rules of one `.gitignore`, for what is below the folder that it stands in. */
export interface Rules {
  /** The path from that folder, of a path from the project's folder. */
  readonly relative: (path: string) => string;
  readonly ignore: IgnoreRules;
}

/**
 * The rules of a folder of the project (its path with a slash; empty: the project's own) after those of the folders above.
 * @throws INVALID_REQUEST for a `.gitignore` of more than 1 MiB, and for more than 16 KiB of rules with wildcards: without
 * them the copy would hold what its owner keeps out of the repository
 */
export async function rulesWithin(
  folder: HostFolder,
  prefix: string,
  above: readonly Rules[],
): Promise<readonly Rules[]> {
  const bytes = await readPlainBytes(folder, ".gitignore", maxIgnoreBytes);
  if (bytes === "large") throw refused(`${prefix}.gitignore`, "it has more than 1 MiB");
  // None, or a link: Git follows none either.
  if (typeof bytes === "string") return above;
  const rules = [...above, { relative: (path: string) => path.slice(prefix.length), ignore: parseGitIgnore(bytes) }];
  if (!isCheap(rules))
    throw refused(`${prefix}.gitignore`, "with those above it has more than 16 KiB of rules with wildcards");
  return rules;
}

/** The same for a folder above the project, from which `below` leads to it; what is too much is left out. */
export async function rulesOutside(
  folder: HostFolder,
  below: string,
  above: readonly Rules[],
): Promise<readonly Rules[]> {
  const bytes = await readPlainBytes(folder, ".gitignore", maxIgnoreBytes);
  if (typeof bytes === "string") return above;
  const rules = [...above, { relative: (path: string) => below + path, ignore: parseGitIgnore(bytes) }];
  return isCheap(rules) ? rules : above;
}

/** Whether the last rule that fits a path ignores it. */
export function isIgnored(rules: readonly Rules[], path: string, isFolder: boolean): boolean {
  for (const { relative, ignore } of rules.toReversed()) {
    const decision = ignore.decide(relative(path), isFolder);
    if (decision !== null) return decision === "ignored";
  }
  return false;
}

function isCheap(rules: readonly Rules[]): boolean {
  return rules.reduce((sum, { ignore }) => sum + ignore.wildBytes, 0) <= maxWildBytes;
}

function refused(path: string, why: string): GloveboxError {
  return new GloveboxError("INVALID_REQUEST", `${JSON.stringify(path.slice(-200))} is not read: ${why}.`, {
    suggestion: "Shorten it, name files without wildcards, or copy ignored files too, where the request can say so.",
    context: { path },
  });
}
