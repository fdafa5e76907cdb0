/** A module by its dotted path, and the names imported from it, each of which may also be a module. */
export interface ImportedModule {
  readonly module: string;
  readonly names: readonly string[];
}

/** Modules that are imported ahead. */
const maxModules = 40;
/** Names of one of them. */
const maxNames = 20;
const maxChars = 200;

const name = String.raw`[\p{L}_][\p{L}\p{N}_]*`;
const dotted = String.raw`${name}(?:\.${name})*`;
const statement = new RegExp(
  String.raw`^(?:import[ \t]+(?<modules>[^;#\n]+)|from[ \t]+(?<from>${dotted})[ \t]+import[ \t]+(?<names>[^;#\n]+))`,
  "gmu",
);
const imported = new RegExp(String.raw`^[\s(]*(?<path>${dotted})(?:\s+as\s+${name})?[\s)]*$`, "u");

/**
 * The modules that a Python program imports by statements that begin a line, without those that are inside functions or
 * go on in the next line: what a later program of the same session is likely to import too. A line of a longer string may be
 * among them.
 */
export function importedModules(code: string): readonly ImportedModule[] {
  const found = new Map<string, Set<string>>();
  for (const { groups = {} } of code.matchAll(statement)) {
    const { modules, from, names = "" } = groups;
    if (from === undefined) for (const path of pathsOf(modules ?? "")) add(found, path, []);
    else add(found, from, pathsOf(names));
  }
  return listed(found);
}

/** Both, each module once. */
export function joinedModules(
  some: readonly ImportedModule[],
  others: readonly ImportedModule[],
): readonly ImportedModule[] {
  const joined = new Map<string, Set<string>>();
  for (const { module, names } of [...some, ...others]) add(joined, module, names);
  return listed(joined);
}

function pathsOf(list: string): readonly string[] {
  return list.split(",").flatMap((each) => imported.exec(each)?.groups?.["path"] ?? []);
}

function add(found: Map<string, Set<string>>, module: string, names: readonly string[]): void {
  if (module.length > maxChars) return;
  const known = found.get(module) ?? new Set();
  if (!found.has(module) && found.size < maxModules) found.set(module, known);
  for (const each of names) if (known.size < maxNames && each.length <= maxChars) known.add(each);
}

function listed(found: ReadonlyMap<string, ReadonlySet<string>>): readonly ImportedModule[] {
  return [...found].map(([module, names]) => ({ module, names: [...names] }));
}
