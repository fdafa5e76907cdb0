import { lstat, realpath } from "node:fs/promises";
import path from "node:path";
import { rootOf, type MountPolicy } from "../../policy/mounts/mount-policy.ts";
import { refusal, type MountRequest, type MountVerdict } from "../../policy/mounts/mount-verdict.ts";
import { outsideRoots } from "../../policy/mounts/outside-roots.ts";

/**
 * Why a path could not be opened (`error`, null if it changed during the check), explained only below the roots:
 * elsewhere the answer is the same whether or not it exists, even if a link leads there.
 */
export async function explainUnopened(
  policy: MountPolicy,
  { givenPath, use }: MountRequest,
  error: unknown,
): Promise<MountVerdict> {
  const reached = await deepestRealFolder(givenPath);
  if (reached === null || rootOf(policy, reached, use) === undefined) return outsideRoots(policy, givenPath, use);
  if (error === null) {
    return refusal("changed", "It was replaced while it was checked.", "Leaving it in place and asking again.");
  }
  const code = (error as NodeJS.ErrnoException).code ?? "";
  if (code === "ENOENT" || code === "ENOTDIR") {
    return refusal("missing", "It does not exist.", "Making it, or correcting the path.");
  }
  return refusal("unreadable", "It cannot be opened.", "The rights to read it, or another path.");
}

/** Real path of the innermost folder of a path that exists; null when a link on the way leads nowhere. */
async function deepestRealFolder(given: string): Promise<string | null> {
  for (let folder = given; ; folder = path.dirname(folder)) {
    try {
      return await realpath(folder);
    } catch {
      if ((await isLink(folder)) || folder === path.dirname(folder)) return null;
    }
  }
}

async function isLink(name: string): Promise<boolean> {
  try {
    return (await lstat(name)).isSymbolicLink();
  } catch {
    // Missing, or in a folder that cannot be entered: its parent decides.
    return false;
  }
}
