import { parsePattern, relate, type PathPattern } from "./path-pattern.ts";

/** Rules of one file: each is tried on each path. */
const maxRules = 500;

/** What a `.dockerignore` leaves out. */
export interface ContextIgnore {
  /** Whether something in an ignored folder may be taken all the same. */
  readonly hasExceptions: boolean;
  ignores(path: string): boolean;
}

/** Reads a `.dockerignore`: the last rule that fits counts, `!` takes back. @throws RangeError for more than 500 rules */
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
  // One that leads out of the project, or names all of it, says nothing.
  return pattern === null || pattern.length === 0 ? [] : [{ pattern, isException }];
}
