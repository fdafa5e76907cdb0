import { gitNameSizes, readGitIndex, sharedIndexOf } from "./git-index.ts";

/** Repositories in a repository that are looked into: `git status` runs what their configuration names. */
const maxLinks = 64;

/** What git's index tells of repositories within a work tree. */
export interface GitIndexLinks {
  /** Their paths (submodules), at most 64. */
  readonly links: readonly string[];
  /** The file beside it that has the rest of its entries, if it is split. */
  readonly sharedIndexes: readonly string[];
  /** Whether it was understood to its end, and no path was left out. */
  readonly isWhole: boolean;
}

/** Reads git's index, in time linear in its size; an empty one has no entries. */
export function gitIndexLinks(index: Uint8Array): GitIndexLinks {
  if (index.length === 0) return { links: [], sharedIndexes: [], isWhole: true };
  const all = new Set<string>();
  const sharedIndexes: string[] = [];
  let isUnderstood = false;
  for (const size of gitNameSizes) {
    let room = maxLinks + 1;
    const facts = readGitIndex(index, size, (kind, name) => {
      if (kind === "repository" && (room -= 1) >= 0) all.add(name.toString("utf8"));
      return true;
    });
    if (!facts.fits) continue;
    isUnderstood = true;
    const shared = sharedIndexOf(facts, size);
    if (shared !== null) sharedIndexes.push(shared);
  }
  const links = [...all];
  return { links: links.slice(0, maxLinks), sharedIndexes, isWhole: isUnderstood && links.length <= maxLinks };
}
