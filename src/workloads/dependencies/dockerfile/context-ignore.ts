import { parsePattern, relate, type PathPattern } from "./path-pattern.ts";

/** Maximum rules of one file: each is tried on each path. */
const maxRules = 500;

/** What a `.dockerignore` excludes. */
export interface ContextIgnore {
  /** Whether something in an ignored folder may still be included. */
  readonly hasExceptions: boolean;
  ignores(path: string): boolean;
}

/**
 * Parses a `.dockerignore`: the last matching rule counts, `!` re-includes. @throws RangeError for more than 500 rules
 */
export function contextIgnore(text: string): ContextIgnore {
  const rules = text
    .replace(/^\ufeff/, "")
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"))
    .flatMap(ruleOf);
  if (rules.length > maxRules) throw new RangeError(`more than ${maxRules} rules`);
  return {
    hasExceptions: rules.some(({ isException }) => isException),
    ignores: (path) => {
      const parts = path.split("/");
      const last = rules.findLast(({ pattern }) => ["is", "below"].includes(relate(pattern, parts) ?? ""));
      return last !== undefined && !last.isException;
    },
  };
}

interface Rule {
  readonly pattern: PathPattern;
  readonly isException: boolean;
}

function ruleOf(line: string): readonly Rule[] {
  const isException = line.startsWith("!");
  const pattern = parsePattern(isException ? line.slice(1).trim() : line);
  // A rule that leads out of the project, or matches all of it, is ignored.
  return pattern === null || pattern.length === 0 ? [] : [{ pattern, isException }];
}
