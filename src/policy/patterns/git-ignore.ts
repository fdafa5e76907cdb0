import { matchesWild, parseWild, type WildPattern } from "./wild-match.ts";

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
