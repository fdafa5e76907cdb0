import { namesBehind } from "../report/numbered-name.ts";

/** Separates the groups of a test from its name, as `failures` shows it. */
const separator = " > ";

/**
 * Variables by which runners run some tests only, named as in `failures`; none for no names. They are variables because what
 * ran before a runner can change files, and not these.
 */
export function onlyVariables(asked: readonly string[]): Readonly<Record<string, string>> {
  if (asked.length === 0) return {};
  const names = asked.flatMap(namesBehind);
  return {
    GLOVEBOX_TEST_ONLY: JSON.stringify({ names, pattern: patternOf(names) }),
    GLOVEBOX_TEST_ONLY_GO: `^(?:${[...new Set(names.map(goName))].map(escaped).join("|")})$`,
    GLOVEBOX_TEST_ONLY_CARGO: names.join("\n"),
  };
}

/** What Node's and Bun's own test runners take in their variables: one word without quotes. */
export function onlyOption(names: readonly string[]): string {
  return names.length === 0 ? "" : ` --test-name-pattern=${patternOf(names.flatMap(namesBehind))}`;
}

/** A regular expression for full names with blanks between the groups, of letters, digits and what needs no quoting. */
function patternOf(names: readonly string[]): string {
  return `^(?:${names.map((name) => name.split(separator).map(escaped).join("(?:\\x20>)?\\x20")).join("|")})$`;
}

function escaped(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9_]/g, (character) => {
    const code = character.charCodeAt(0);
    return code < 256 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
  });
}

/** The test that a subtest belongs to, without its package. */
function goName(name: string): string {
  return (name.split(separator).at(-1) ?? "").split("/")[0] ?? "";
}
