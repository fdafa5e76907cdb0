import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { HostFolder } from "../../base/host-folder.ts";
import { readPlainBytes } from "./read-project.ts";

/** Of one `.gitignore`. */
const maxIgnoreBytes = 1024 * 1024;
/** Of all rules with wildcards that may apply to one path: each costs as much as it is long, times the path's length. */
const maxWildBytes = 16 * 1024;

/** Rules of one `.gitignore`, for what is below the folder that it stands in. */
export interface Rules {
  /** The path from that folder, of a path from the project's folder. */
  readonly relative: (path: string) => string;
  readonly ignore: IgnoreRules;
}

/**
 * The rules of a folder of the project (its path with a slash; empty: the project's own) after those of the folders above.
 * @throws INVALID_REQUEST for a `.gitignore` of more than 1 MiB, and for more than 16 KiB of rules with wildcards: without
 * them the copy would hold what its owner keeps out of the repository
 */
export async function rulesWithin(
  folder: HostFolder,
  prefix: string,
  above: readonly Rules[],
): Promise<readonly Rules[]> {
  const bytes = await readPlainBytes(folder, ".gitignore", maxIgnoreBytes);
  if (bytes === "large") throw refused(`${prefix}.gitignore`, "it has more than 1 MiB");
  // None, or a link: Git follows none either.
  if (typeof bytes === "string") return above;
  const rules = [...above, { relative: (path: string) => path.slice(prefix.length), ignore: parseGitIgnore(bytes) }];
  if (!isCheap(rules))
    throw refused(`${prefix}.gitignore`, "with those above it has more than 16 KiB of rules with wildcards");
  return rules;
}

/** The same for a folder above the project, from which `below` leads to it; what is too much is left out. */
export async function rulesOutside(
  folder: HostFolder,
  below: string,
  above: readonly Rules[],
): Promise<readonly Rules[]> {
  const bytes = await readPlainBytes(folder, ".gitignore", maxIgnoreBytes);
  if (typeof bytes === "string") return above;
  const rules = [...above, { relative: (path: string) => below + path, ignore: parseGitIgnore(bytes) }];
  return isCheap(rules) ? rules : above;
}

/** Whether the last rule that fits a path ignores it. */
export function isIgnored(rules: readonly Rules[], path: string, isFolder: boolean): boolean {
  for (const { relative, ignore } of rules.toReversed()) {
    const decision = ignore.decide(relative(path), isFolder);
    if (decision !== null) return decision === "ignored";
  }
  return false;
}

/** Rules of one `.gitignore`. */
export interface IgnoreRules {
  /**
   * Bytes of the rules whose patterns are followed step by step; each path costs as much as these times its own length.
   * All other rules are looked up.
   */
  readonly wildBytes: number;
  /** What the last rule that fits says of a path relative to the file's folder; null: none fits. */
  decide(path: string, isFolder: boolean): "ignored" | "kept" | null;
}

interface Rule {
  /** Later rules win. */
  readonly order: number;
  readonly isKept: boolean;
  readonly onlyFolders: boolean;
}

interface WildRule extends Rule {
  readonly pattern: WildPattern;
  /** Whether it is about the name alone, in whatever folder. */
  readonly isName: boolean;
}

/** The last rule of each text, by what it is about. */
class RuleTable {
  readonly #files = new Map<string, Rule>();
  readonly #folders = new Map<string, Rule>();

  set(text: string, rule: Rule): void {
    this.#folders.set(text, rule);
    if (!rule.onlyFolders) this.#files.set(text, rule);
  }

  get(text: string, isFolder: boolean): Rule | undefined {
    return (isFolder ? this.#folders : this.#files).get(text);
  }
}

/**
 * Reads a `.gitignore` as git does: byte by byte, the last rule that fits wins. A path in an ignored folder is none of its
 * concern: nobody enters that folder.
 */
export function parseGitIgnore(bytes: Uint8Array): IgnoreRules {
  const names = new RuleTable();
  const paths = new RuleTable();
  const endings = new RuleTable();
  const endingLengths = new Set<number>();
  const wild: WildRule[] = [];
  let wildBytes = 0;
  let text = Buffer.from(bytes).toString("latin1");
  if (text.startsWith("\u00ef\u00bb\u00bf")) text = text.slice(3);
  for (const [order, line] of text.split("\n").entries()) {
    if (line.startsWith("#")) continue;
    let pattern = withoutEnd(line.endsWith("\r") ? line.slice(0, -1) : line);
    const isKept = pattern.startsWith("!");
    if (isKept) pattern = pattern.slice(1);
    const onlyFolders = pattern.endsWith("/");
    if (onlyFolders) pattern = pattern.slice(0, -1);
    const isName = !pattern.includes("/");
    if (pattern.startsWith("/")) pattern = pattern.slice(1);
    if (pattern === "") continue;
    const rule: Rule = { order, isKept, onlyFolders };
    if (!special.test(pattern)) (isName ? names : paths).set(pattern, rule);
    else if (isName && pattern.startsWith("*") && !special.test(pattern.slice(1))) {
      endings.set(pattern.slice(1), rule);
      endingLengths.add(pattern.length - 1);
    } else {
      wild.push({ ...rule, isName, pattern: parseWild(pattern, isName ? 0 : pattern.search(special)) });
      wildBytes += pattern.length;
    }
  }
  wild.reverse();
  return {
    wildBytes,
    decide: (path, isFolder) => {
      const whole = Buffer.from(path).toString("latin1");
      const name = whole.slice(whole.lastIndexOf("/") + 1);
      const found = [names.get(name, isFolder), paths.get(whole, isFolder)];
      for (const length of endingLengths) {
        if (length <= name.length) found.push(endings.get(name.slice(name.length - length), isFolder));
      }
      found.push(
        wild.find(
          ({ pattern, isName, onlyFolders }) =>
            (isFolder || !onlyFolders) && matchesWild(isName ? name : whole, pattern),
        ),
      );
      let last: Rule | null = null;
      for (const rule of found) if (rule !== undefined && rule.order >= (last?.order ?? 0)) last = rule;
      if (last === null) return null;
      return last.isKept ? "kept" : "ignored";
    },
  };
}

const special = /[*?[\\]/;

/** Spaces at the end do not count, unless a backslash stands before them. */
function withoutEnd(line: string): string {
  let end = 0;
  for (let at = 0; at < line.length; at += 1) {
    const character = line.charAt(at);
    if (character === "\\") {
      at += 1;
      if (at === line.length) return line;
    } else if (character === " ") continue;
    end = at + 1;
  }
  return line.slice(0, end);
}

/** What one step of a pattern takes, of bytes that are given as characters up to U+00FF. */
type Step =
  /** One byte of a set. */
  | { readonly kind: "one"; readonly taken: Uint8Array }
  /** Any number of what is no slash. */
  | { readonly kind: "star" }
  /** Any number of anything. */
  | { readonly kind: "deep" }
  /** Nothing, or what the next step takes. */
  | { readonly kind: "option" }
  /** Anything that ends with a slash. */
  | { readonly kind: "folders" };

/** A pattern as git writes them: `*`, `**`, `?`, `[a-z]` and `\`. */
interface WildPattern {
  /** Null: it fits nothing, such as one whose bracket never ends. */
  readonly steps: readonly Step[] | null;
}

const slash = 0x2f;

/**
 * Reads a pattern as git's `wildmatch` does for paths; `text` has a character for each byte. Of its first `plain` characters
 * none is special: git compares those beforehand, so that `**` right behind them begins a pattern.
 * @hostileText Exported for the test that feeds it.
 */
export function parseWild(text: string, plain = 0): WildPattern {
  const steps: Step[] = [];
  let at = 0;
  while (at < text.length) {
    const character = text.charAt(at);
    if (character === "*") {
      const from = at;
      while (text.charAt(at) === "*") at += 1;
      const isWhole =
        (from <= plain || text.charAt(from - 1) === "/") && (at === text.length || text.charAt(at) === "/");
      if (at - from === 1 || !isWhole) steps.push({ kind: "star" });
      else if (at === text.length) steps.push({ kind: "deep" });
      else {
        steps.push({ kind: "option" }, { kind: "folders" });
        at += 1;
      }
    } else if (character === "?") {
      steps.push({ kind: "one", taken: everyName });
      at += 1;
    } else if (character === "[") {
      const bracket = parseBracket(text, at + 1);
      if (bracket === null) return { steps: null };
      steps.push({ kind: "one", taken: bracket.taken });
      at = bracket.next;
    } else {
      if (character === "\\") at += 1;
      if (at === text.length) return { steps: null };
      steps.push({ kind: "one", taken: only(text.charCodeAt(at)) });
      at += 1;
    }
  }
  return { steps };
}

function only(code: number): Uint8Array {
  return new Uint8Array(256).fill(1, code, code + 1);
}

/** All bytes but the slash. */
const everyName = new Uint8Array(256).fill(1).fill(0, slash, slash + 1);

/**
 * Whether all of a text fits, in time proportional to pattern times text: every place in the pattern that is possible is
 * followed side by side, so that nothing is tried twice.
 * @hostileText Exported for the test that feeds it.
 */
export function matchesWild(text: string, { steps }: WildPattern): boolean {
  if (steps === null) return false;
  let places = new Uint8Array(steps.length + 2);
  let next = new Uint8Array(steps.length + 2);
  places[0] = 1;
  // Between these lie the places that are possible.
  let from = 0;
  let to = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    let nextFrom = steps.length + 1;
    let nextTo = -1;
    for (let place = from; place <= to; place += 1) {
      const step = steps[place];
      if (places[place] !== 1 || step === undefined) continue;
      const { kind } = step;
      const stays = kind === "deep" || kind === "folders" || (kind === "star" && code !== slash);
      const leads = kind === "one" ? step.taken[code] === 1 : kind === "folders" && code === slash;
      if (stays) next[place] = 1;
      if (leads) next[place + 1] = 1;
      if (stays || leads) {
        nextFrom = Math.min(nextFrom, stays ? place : place + 1);
        nextTo = Math.max(nextTo, leads ? place + 1 : place);
      }
      to = Math.max(to, skip(places, place, kind));
    }
    if (nextTo === -1) return false;
    places.fill(0, from, to + 1);
    [places, next, from, to] = [next, places, nextFrom, nextTo];
  }
  for (let place = from; place < steps.length; place += 1) {
    if (places[place] === 1) skip(places, place, steps[place]?.kind ?? "one");
  }
  return places[steps.length] === 1;
}

/** Marks what is possible too where a step takes nothing; returns the last such place. */
function skip(places: Uint8Array, place: number, kind: Step["kind"]): number {
  if (kind === "one" || kind === "folders") return place;
  places[place + 1] = 1;
  if (kind !== "option") return place + 1;
  places[place + 2] = 1;
  return place + 2;
}

const named: Readonly<Record<string, RegExp>> = {
  alnum: /[A-Za-z0-9]/,
  alpha: /[A-Za-z]/,
  blank: /[ \t]/,
  // oxlint-disable-next-line no-control-regex
  cntrl: /[\0-\x1f\x7f]/,
  digit: /\d/,
  graph: /[!-~]/,
  lower: /[a-z]/,
  print: /[ -~]/,
  punct: /[!-/:-@[-`{-~]/,
  space: /[\t-\r ]/,
  upper: /[A-Z]/,
  xdigit: /[A-Fa-f0-9]/,
};

/** What stands between brackets, from behind the first; null if they never end, or name a class that there is not. */
function parseBracket(text: string, start: number): { readonly taken: Uint8Array; readonly next: number } | null {
  let at = start;
  const isNegated = text.charAt(at) === "!" || text.charAt(at) === "^";
  if (isNegated) at += 1;
  const taken = new Uint8Array(256);
  let before: number | null = null;
  for (let isFirst = true; ; isFirst = false) {
    if (at >= text.length) return null;
    const character = text.charAt(at);
    if (character === "]" && !isFirst) break;
    if (character === "-" && before !== null && at + 1 < text.length && text.charAt(at + 1) !== "]") {
      at += text.charAt(at + 1) === "\\" ? 2 : 1;
      if (at >= text.length) return null;
      taken.fill(1, before, Math.max(before, text.charCodeAt(at) + 1));
      before = null;
      at += 1;
      continue;
    }
    if (character === "[" && text.charAt(at + 1) === ":") {
      const end = text.indexOf("]", at + 2);
      if (end === -1) return null;
      if (text.charAt(end - 1) === ":" && end - 1 > at + 1) {
        const form = named[text.slice(at + 2, end - 1)];
        if (form === undefined) return null;
        for (let code = 0; code < 128; code += 1) if (form.test(String.fromCharCode(code))) taken[code] = 1;
        before = null;
        at = end + 1;
        continue;
      }
    }
    if (character === "\\") at += 1;
    if (at >= text.length) return null;
    before = text.charCodeAt(at);
    taken[before] = 1;
    at += 1;
  }
  const wanted = isNegated ? taken.map((each) => 1 - each) : taken;
  wanted[slash] = 0;
  return { taken: wanted, next: at + 1 };
}

function isCheap(rules: readonly Rules[]): boolean {
  return rules.reduce((sum, { ignore }) => sum + ignore.wildBytes, 0) <= maxWildBytes;
}

function refused(path: string, why: string): GloveboxError {
  return new GloveboxError("INVALID_REQUEST", `${JSON.stringify(path.slice(-200))} is not read: ${why}.`, {
    suggestion: "Shorten it, name files without wildcards, or copy ignored files too, where the request can say so.",
    context: { path },
  });
}
