import { maxGlobs } from "../operations/contract/wire-values.ts";
import { invalidValue } from "./request/invalid-value.ts";
import { checkRelativePath } from "./request/relative-path.ts";

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
