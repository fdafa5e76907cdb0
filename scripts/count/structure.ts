import { globSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { parseSync, Visitor } from "oxc-parser";

const longestFunction = 60;
const fullestFolder = 15;

export interface Structure {
  readonly files: number;
  readonly lines: number;
  /** `path:line (lines)` of each function that is too long. */
  readonly longFunctions: readonly string[];
  /** `folder (files)` of each folder that has too many; files of tests are not counted. */
  readonly fullFolders: readonly string[];
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
  const folders = Map.groupBy(paths, dirname);
  return {
    files: paths.length,
    lines: sources.reduce((total, { lines }) => total + lines, 0),
    longFunctions: sources.flatMap(({ longFunctions }) => longFunctions),
    fullFolders: [...folders]
      .filter(([, files]) => files.length > fullestFolder)
      .map(([folder, files]) => `${folder} (${files.length})`),
    circles: circlesOf(imports).map((circle) => circle.toSorted().join(", ")),
  };
}

interface Source {
  readonly path: string;
  readonly lines: number;
  readonly imports: readonly string[];
  readonly longFunctions: readonly string[];
}

function readOne(path: string, text: string): Source {
  const imports: string[] = [];
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
    ExportNamedDeclaration: (node) => note(node.source),
    ExportAllDeclaration: (node) => note(node.source),
    ImportExpression: (node) => note(node.source as { readonly value?: unknown }),
    TSImportType: (node) => note(node.source),
    FunctionDeclaration: measure,
    FunctionExpression: measure,
    ArrowFunctionExpression: measure,
  }).visit(parseSync(path, text).program);
  return { path, lines: lineAt(text.length) - 1, imports, longFunctions };
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
