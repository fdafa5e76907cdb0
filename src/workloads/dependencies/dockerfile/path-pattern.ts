/** A pattern for paths, one part per segment; the part `**` matches any number of segments. */
export type PathPattern = readonly string[];

/** Parses a pattern of a Dockerfile or a `.dockerignore`, relative to the project; null if it leads out of it. */
export function parsePattern(text: string): PathPattern | null {
  const parts: string[] = [];
  for (const part of text.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") parts.push(part);
    else if (parts.pop() === undefined) return null;
  }
  return parts;
}

/**
 * Whether a path matches the pattern (`is`), is inside a match (`below`), or is a folder that may contain one
 * (`above`); null: none of these. The cost grows with the lengths of both, not with the number of ways to match.
 */
export function relate(pattern: PathPattern, path: readonly string[]): "is" | "below" | "above" | null {
  let states = closed(pattern, new Set([0]));
  for (const name of path) {
    if (states.has(pattern.length)) return "below";
    const next = new Set<number>();
    for (const state of states) {
      const part = pattern[state] ?? "";
      if (part === "**") next.add(state);
      else if (matchesName(part, name)) next.add(state + 1);
    }
    if (next.size === 0) return null;
    states = closed(pattern, next);
  }
  return states.has(pattern.length) ? "is" : "above";
}

/** A `**` may match nothing. */
function closed(pattern: PathPattern, states: Set<number>): ReadonlySet<number> {
  for (const state of states) if (pattern[state] === "**") states.add(state + 1);
  return states;
}

/** Whether a name matches a pattern with `*`, `?`, `[a-z]` and backslashes. */
export function matchesName(pattern: string, name: string): boolean {
  let [p, n, star, mark] = [0, 0, -1, 0];
  while (n < name.length) {
    const one = pattern[p] === "*" ? null : matchOne(pattern, p, name.charAt(n));
    if (one !== null) [p, n] = [one, n + 1];
    else if (pattern[p] === "*") [star, mark, p] = [p, n, p + 1];
    else if (star === -1) return false;
    // Lets the last star match one more character.
    else [p, mark, n] = [star + 1, mark + 1, mark + 1];
  }
  while (pattern[p] === "*") p += 1;
  return p === pattern.length;
}

/** Where the pattern continues if its part at `at` matches the character; null if it does not. */
function matchOne(pattern: string, at: number, character: string): number | null {
  const part = pattern[at];
  if (part === undefined) return null;
  if (part === "?") return at + 1;
  if (part === "\\") return pattern[at + 1] === character ? at + 2 : null;
  const end = part === "[" ? pattern.indexOf("]", at + 2) : -1;
  if (end === -1) return part === character ? at + 1 : null;
  const isNot = /[!^]/.test(pattern.charAt(at + 1));
  const set = pattern.slice(at + (isNot ? 2 : 1), end);
  return inSet(set, character) === isNot ? null : end + 1;
}

function inSet(set: string, character: string): boolean {
  for (let at = 0; at < set.length; at += 1) {
    const first = set.charAt(at);
    if (set[at + 1] === "-" && at + 2 < set.length) {
      if (first <= character && character <= set.charAt(at + 2)) return true;
      at += 2;
    } else if (first === character) return true;
  }
  return false;
}
