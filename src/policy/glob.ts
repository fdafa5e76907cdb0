import { maxGlobs } from "../operations/contract/wire-values.ts";
import { invalidValue } from "./request/invalid-value.ts";
import { checkRelativePath } from "./request/request-paths.ts";

/** Most alternatives that the braces of one pattern may stand for. */
const maxAlternatives = 64;

/** A checked pattern: alternatives of names between slashes, where the name `**` stands for any number of folders. */
export interface Glob {
  readonly source: string;
  readonly alternatives: readonly (readonly string[])[];
}

/**
 * Patterns for files below a folder, as in `artifacts`.
 *
 * `*` stands for any letters of a name and `?` for one, neither for a leading dot; `**` between slashes for any folders
 * but hidden ones; `{a,b}` for either, not nested. Everything else stands for itself.
 * Not picomatch, which makes regular expressions of patterns that may be hostile.
 * @throws INVALID_REQUEST naming the pattern; what other shells know beyond that is refused, not read differently
 */
export function parseGlobs(patterns: readonly string[], field = "artifacts"): readonly Glob[] {
  if (patterns.length > maxGlobs) {
    throw invalidValue(field, `expected at most ${maxGlobs} patterns, found ${patterns.length}`);
  }
  return patterns.map((pattern, index) => parseGlob(pattern, `${field}[${index}]`));
}

/**
 * Whether a whole name fits a pattern in which `*` stands for any letters and `?` for one.
 *
 * Takes time in proportion to name times pattern: on a mismatch only the last `*` takes a letter more, which is enough.
 */
export function matchesWildcard(name: string, pattern: string): boolean {
  let at = 0;
  let inPattern = 0;
  let star = -1;
  let starAt = 0;
  while (at < name.length) {
    const wanted = pattern[inPattern];
    if (wanted === "*") {
      star = inPattern;
      starAt = at;
      inPattern += 1;
    } else if (wanted === "?" || wanted === name[at]) {
      at += 1;
      inPattern += 1;
    } else if (star !== -1) {
      starAt += 1;
      at = starAt;
      inPattern = star + 1;
    } else {
      return false;
    }
  }
  while (pattern[inPattern] === "*") inPattern += 1;
  return inPattern === pattern.length;
}

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

function parseGlob(pattern: string, field: string): Glob {
  const shown = JSON.stringify(pattern.slice(0, 80));
  checkRelativePath(pattern, field);
  if (/[[\]()!]/.test(pattern)) {
    throw invalidValue(field, `expected only *, **, ? and {a,b} as wildcards, such as out/**/*.csv, got ${shown}`);
  }
  const alternatives = expandBraces(pattern);
  if (alternatives === null) {
    throw invalidValue(
      field,
      `expected braces in pairs, not nested, that stand for at most ${maxAlternatives} alternatives, got ${shown}`,
    );
  }
  return {
    source: pattern,
    alternatives: alternatives.map((alternative) => splitNames(checkRelativePath(alternative, field))),
  };
}

/** A last `**` stands for everything below, so it needs a name to end in. */
function splitNames(pattern: string): readonly string[] {
  const names = pattern.split("/");
  return names.at(-1) === "**" ? [...names, "*"] : names;
}

/** Every text that the braces of a pattern stand for; null when they are unpaired, nested or stand for too many. */
function expandBraces(pattern: string): readonly string[] | null {
  let expanded = [""];
  const pieces = pattern.match(/\{[^{}]*\}|[^{}]+|[{}]/g) ?? [];
  for (const piece of pieces) {
    if (piece === "{" || piece === "}") return null;
    const choices = piece.startsWith("{") ? piece.slice(1, -1).split(",") : [piece];
    if (expanded.length * choices.length > maxAlternatives) return null;
    expanded = expanded.flatMap((start) => choices.map((choice) => start + choice));
  }
  return expanded;
}
