import { matchesWildcard } from "../patterns/wildcard.ts";
import { builtInPatterns } from "./built-in-patterns.ts";

/** A pattern of names that no path to a sandbox may hold. */
export interface BlockedPattern {
  /** As it was written. */
  readonly source: string;
  /** What such files hold; null for one that the operator wrote. */
  readonly what: string | null;
  /** Names that must follow each other in a path, folded, with `*` and `?`. */
  readonly names: readonly string[];
}

/** Which pattern refuses a path, and by which of its components. */
export interface BlockedComponent {
  readonly pattern: BlockedPattern;
  /** One component as it is written in the path, or several with slashes. */
  readonly component: string;
}

/**
 * The built-in patterns and the operator's.
 *
 * One of the operator's that has no wildcard is found anywhere in a component's name (`password` refuses
 * `my-passwords.txt`): a list of forbidden names is better too wide than too narrow, and FFT_nano reads its lists so.
 */
export function blockedPatterns(configured: readonly string[]): readonly BlockedPattern[] {
  return [
    ...builtInPatterns.flatMap(({ what, patterns }) =>
      patterns.map((source) => ({ source, what, names: foldedNames(source) })),
    ),
    ...configured.map((source) => ({ source, what: null, names: configuredNames(source) })),
  ];
}

/** Whether a pattern says anything: one that is only slashes and white space does not. */
export function isPattern(source: string): boolean {
  return foldedNames(source).some((name) => name !== "");
}

/** The first component of a path that a pattern refuses; slashes and backslashes both part components. */
export function findBlocked(path: string, patterns: readonly BlockedPattern[]): BlockedComponent | null {
  const components = path.split(/[\\/]/).filter(Boolean);
  const forms = components.map(foldedForms);
  for (const start of components.keys()) {
    const pattern = patterns.find(({ names }) =>
      names.every((name, offset) => forms[start + offset]?.some((form) => matchesWildcard(form, name)) === true),
    );
    if (pattern !== undefined) {
      return { pattern, component: components.slice(start, start + pattern.names.length).join("/") };
    }
  }
  return null;
}

/**
 * A name in the one form in which names are compared: without case, without what Unicode shows alike or not at all.
 *
 * Some file systems take all of these for one name: `.SSH`, `.ſſh` (long s), `.s<zero-width joiner>sh`, decomposed
 * letters, and on Windows `.ssh.` and `.ssh ` too.
 */
function fold(name: string): string {
  const visible = name.normalize("NFKC").replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "");
  const caseless = visible.toLowerCase().toUpperCase().toLowerCase().normalize("NFKC");
  return caseless.replace(/(?<![. ])[. ]+$/, "");
}

/** A component's own form and, for a stream of a file on Windows (`.env::$DATA`), the file's. */
function foldedForms(component: string): readonly string[] {
  const [file = ""] = component.split(":");
  return file === "" || file === component ? [fold(component)] : [fold(component), fold(file)];
}

function foldedNames(source: string): readonly string[] {
  return source.split(/[\\/]/).map(fold).filter(Boolean);
}

/** A plain pattern as what finds it anywhere: open at its ends, save where a slash closes them. */
function configuredNames(source: string): readonly string[] {
  const names = foldedNames(source);
  if (/[*?]/.test(source)) return names;
  const open = names.map((name, index) => {
    const before = index === 0 && !/^[\\/]/.test(source) ? "*" : "";
    const after = index === names.length - 1 && !/[\\/]$/.test(source) ? "*" : "";
    return `${before}${name}${after}`;
  });
  return open;
}
