import { globSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { type Declaration, parseSync, Visitor } from "oxc-parser";

const longestFunction = 60;
/** A folder with so few files beneath it is seldom a noun of its own. */
const fewFiles = 3;

export interface Structure {
  readonly files: number;
  readonly lines: number;
  /** `path:line (lines)` of each function that is too long. */
  readonly longFunctions: readonly string[];
  /** Folders that have files or folders of the product in them, `src` included. */
  readonly folders: number;
  /** Folders that hold at most three files, folders below them included. */
  readonly smallFolders: readonly string[];
  /** Files on the longest way from import to import, types and lazy imports included; a file of a cycle is counted once. */
  readonly longestChain: readonly string[];
  /** Files that one other file imports, and no second one. */
  readonly singleImporters: readonly string[];
  /** `name (files)` of each exported name that is declared in several files, and of each file name that several folders have. */
  readonly repeatedNames: readonly string[];
  /** Files that import each other in a cycle, type imports included; the files of each cycle are separated by commas. */
  readonly circles: readonly string[];
}

/** What the product's sources look like under a root. */
export function structureOf(root: string): Structure {
  const paths = globSync("src/**/*.ts", { cwd: root })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => !path.endsWith(".test.ts"))
    .toSorted();
  const sources = paths.map((path) => readOne(path, readFileSync(join(root, path), "utf8")));
  const imports = new Map(sources.map((source) => [source.path, source.imports]));
  const folders = filesOfFolders(paths);
  const circles = circlesOf(imports);
  return {
    files: paths.length,
    lines: sources.reduce((total, { lines }) => total + lines, 0),
    longFunctions: sources.flatMap(({ longFunctions }) => longFunctions),
    folders: folders.size,
    smallFolders: [...folders].filter(([, files]) => files <= fewFiles).map(([folder]) => folder),
    longestChain: longestChainOf(imports),
    singleImporters: singleImportersOf(imports),
    repeatedNames: repeatedNamesOf(sources),
    circles: circles.map((circle) => circle.toSorted().join(", ")),
  };
}

/** The figures of a structure, by a display name, in the order of the page. */
export function structureRows(structure: Structure): Readonly<Record<string, number>> {
  return {
    "source files": structure.files,
    "source lines": structure.lines,
    "source folders": structure.folders,
    "folders of at most 3 files": structure.smallFolders.length,
    "files on the longest import chain": structure.longestChain.length,
    "files with one importer": structure.singleImporters.length,
    "files with one importer, in percent": Math.round((100 * structure.singleImporters.length) / structure.files),
    "names declared twice": structure.repeatedNames.length,
    "functions over 60 lines": structure.longFunctions.length,
    "import circles": structure.circles.length,
  };
}

/** How many files each folder holds, those of folders below it included. */
function filesOfFolders(paths: readonly string[]): ReadonlyMap<string, number> {
  const files = new Map<string, number>();
  for (const path of paths) {
    for (let folder = dirname(path); folder !== "."; folder = dirname(folder)) {
      files.set(folder, (files.get(folder) ?? 0) + 1);
    }
  }
  return files;
}

function singleImportersOf(imports: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const importers = new Map<string, Set<string>>();
  for (const [path, named] of imports) {
    for (const one of named) {
      if (!imports.has(one) || one === path) continue;
      importers.set(one, (importers.get(one) ?? new Set()).add(path));
    }
  }
  return [...importers].filter(([, from]) => from.size === 1).map(([path]) => path);
}

function repeatedNamesOf(sources: readonly Source[]): readonly string[] {
  const declared = new Map<string, Set<string>>();
  const note = (name: string, path: string): void => {
    declared.set(name, (declared.get(name) ?? new Set()).add(path));
  };
  for (const { path, exports } of sources) {
    note(posix.basename(path), path);
    for (const name of exports) note(name, path);
  }
  return [...declared].filter(([, files]) => files.size > 1).map(([name, files]) => `${name} (${files.size})`);
}

/** The longest way along the imports. Where files import each other in a cycle the way stops at the first file it meets again. */
export function longestChainOf(imports: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const longest = new Map<string, readonly string[]>();
  const from = (file: string, before: ReadonlySet<string>): readonly string[] => {
    const known = longest.get(file);
    if (known !== undefined) return known;
    const way = new Set([...before, file]);
    const below = (imports.get(file) ?? [])
      .filter((next) => imports.has(next) && !way.has(next))
      .map((next) => from(next, way))
      .reduce<readonly string[]>((best, chain) => (chain.length > best.length ? chain : best), []);
    const chain = [file, ...below];
    longest.set(file, chain);
    return chain;
  };
  return [...imports.keys()]
    .map((file) => from(file, new Set()))
    .reduce<readonly string[]>((best, chain) => (chain.length > best.length ? chain : best), []);
}

interface Source {
  readonly path: string;
  readonly lines: number;
  readonly imports: readonly string[];
  /** Names that the file declares and exports; what it passes on of another file is not declared here. */
  readonly exports: readonly string[];
  readonly longFunctions: readonly string[];
}

function readOne(path: string, text: string): Source {
  const imports: string[] = [];
  const exports: string[] = [];
  const longFunctions: string[] = [];
  const lineAt = (offset: number): number => text.slice(0, offset).split("\n").length;
  const note = (source: { readonly value?: unknown } | null): void => {
    const name = source?.value;
    if (typeof name === "string" && name.startsWith(".")) imports.push(posix.join(posix.dirname(path), name));
  };
  const measure = ({ start, end }: { readonly start: number; readonly end: number }): void => {
    const lines = lineAt(end) - lineAt(start) + 1;
    if (lines > longestFunction) longFunctions.push(`${path}:${lineAt(start)} (${lines})`);
  };
  new Visitor({
    ImportDeclaration: (node) => note(node.source),
    ExportNamedDeclaration: (node) => {
      note(node.source);
      exports.push(...declaredNames(node.declaration));
    },
    ExportAllDeclaration: (node) => note(node.source),
    ImportExpression: (node) => note(node.source as { readonly value?: unknown }),
    TSImportType: (node) => note(node.source),
    FunctionDeclaration: measure,
    FunctionExpression: measure,
    ArrowFunctionExpression: measure,
  }).visit(parseSync(path, text).program);
  return { path, lines: lineAt(text.length) - 1, imports, exports, longFunctions };
}

function declaredNames(declaration: Declaration | null): readonly string[] {
  if (declaration === null) return [];
  if (declaration.type === "VariableDeclaration") {
    return declaration.declarations.flatMap(({ id }) => (id.type === "Identifier" ? [id.name] : []));
  }
  const id = "id" in declaration ? declaration.id : null;
  return id !== null && id.type === "Identifier" ? [id.name] : [];
}

/** Groups of files in which each file reaches every other one (Tarjan's algorithm). */
export function circlesOf(imports: ReadonlyMap<string, readonly string[]>): readonly (readonly string[])[] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const circles: string[][] = [];
  const visit = (file: string): void => {
    order.set(file, order.size);
    lowest.set(file, order.size - 1);
    open.push(file);
    for (const next of imports.get(file) ?? []) {
      if (!imports.has(next)) continue;
      if (!order.has(next)) visit(next);
      if (open.includes(next)) lowest.set(file, Math.min(lowest.get(file) ?? 0, lowest.get(next) ?? 0));
    }
    if (lowest.get(file) !== order.get(file)) return;
    const circle = open.splice(open.indexOf(file));
    if (circle.length > 1) circles.push(circle);
  };
  for (const file of imports.keys()) if (!order.has(file)) visit(file);
  return circles;
}
