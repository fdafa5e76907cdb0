/** What a git configuration names of other places that git reads or runs from. */
export interface GitConfigPaths {
  /** Folders of hooks, relative to the work tree. */
  readonly hookFolders: readonly string[];
  /** Further configuration, relative to the file's own folder. */
  readonly includes: readonly string[];
}

/** More than a few are no configuration of a person's. */
const maxPaths = 16;

/** Reads `core.hooksPath`, `include.path` and `includeIf.*.path`; what git would not read as such is passed over. */
export function gitConfigPaths(text: string): GitConfigPaths {
  const hookFolders: string[] = [];
  const includes: string[] = [];
  let section = "";
  for (const line of text.split("\n")) {
    const head = /^\s*\[\s*([A-Za-z0-9.-]+)(?:\s+"(?:[^"\\]|\\.)*")?\s*\]/.exec(line);
    if (head !== null) section = (head[1] ?? "").toLowerCase();
    // Git takes a setting on the line of its section too.
    const setting = /^\s*([A-Za-z][A-Za-z0-9-]*)\s*=\s*(.*)$/s.exec(line.slice(head?.[0].length ?? 0));
    if (setting === null) continue;
    const name = (setting[1] ?? "").toLowerCase();
    const value = valueOf(setting[2] ?? "");
    if (section === "core" && name === "hookspath") hookFolders.push(value);
    if ((section === "include" || section === "includeif") && name === "path") includes.push(value);
  }
  return { hookFolders: hookFolders.slice(-maxPaths), includes: includes.slice(-maxPaths) };
}

/** Without its comment and quotation marks. */
function valueOf(raw: string): string {
  let value = "";
  let isQuoted = false;
  for (let index = 0; index < raw.length; index += 1) {
    const character = raw.charAt(index);
    if (character === '"') isQuoted = !isQuoted;
    else if (character === "\\") value += raw.charAt((index += 1));
    else if (!isQuoted && (character === "#" || character === ";")) break;
    else value += character;
  }
  return value.trim();
}
