import type { Glob } from "./glob.ts";
import { matchesWildcard } from "./wildcard.ts";

/**
 * Whether a relative path with forward slashes fits one of the patterns.
 *
 * Takes time proportional to path times pattern: both may be untrusted, and patterns turned into regular expressions
 * can be made to run for minutes.
 */
export function matchesGlob(path: string, globs: readonly Glob[]): boolean {
  const names = path.split("/");
  return globs.some((glob) => glob.alternatives.some((alternative) => matchesNames(names, alternative)));
}

/** Folder by folder; `reached[i]` says whether the patterns so far fit exactly the first `i` names. */
function matchesNames(names: readonly string[], patterns: readonly string[]): boolean {
  let reached = [true, ...names.map(() => false)];
  for (const pattern of patterns) {
    const next = names.map(() => false);
    next.unshift(pattern === "**" && reached[0] === true);
    for (const [index, name] of names.entries()) {
      next[index + 1] =
        pattern === "**"
          ? reached[index + 1] === true || (next[index] === true && !name.startsWith("."))
          : reached[index] === true && matchesName(name, pattern);
    }
    reached = next;
  }
  return reached.at(-1) === true;
}

function matchesName(name: string, pattern: string): boolean {
  if (name.startsWith(".") && !pattern.startsWith(".")) return false;
  return matchesWildcard(name, pattern);
}
