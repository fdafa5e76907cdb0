import type { SourceFile } from "./imported-packages.ts";
import { pythonPackage } from "./python-package.ts";
import { posix } from "node:path";
import { parser } from "@lezer/python";

/**
 * The distributions that Python files import, in no order; true: the main file cannot run without. `paths` are those of all
 * the program's files.
 */
export function pythonPackages(
  files: readonly SourceFile[],
  paths: readonly string[],
  main: string,
): ReadonlyMap<string, boolean> {
  const found = new Map<string, boolean>();
  const isLocal = localModules(paths);
  for (const { path, content } of files) {
    for (const [module, isCertain] of findModules(content)) {
      const name = isLocal(path, module.split(".", 1)[0] ?? "") ? null : pythonPackage(module);
      if (name !== null) found.set(name, (isCertain && path === main) || found.get(name) === true);
    }
  }
  return found;
}

/** Folders from the file's own up to the root, which is the empty name. */
function foldersAbove(path: string): readonly string[] {
  const parts = path.split("/").slice(0, -1);
  return [...parts.map((_, index) => parts.slice(0, parts.length - index).join("/")), ""];
}

/**
 * Tells whether a top-level module that a file imports is one of the program's own: a Python file or a folder with
 * Python files, beside the importing file or in a folder above it.
 */
function localModules(paths: readonly string[]): (importingPath: string, module: string) => boolean {
  const own = new Set<string>();
  for (const path of paths) {
    if (!/\.pyw?$/.test(path)) continue;
    const normal = posix.normalize(path);
    own.add(normal.replace(/\.pyw?$/, ""));
    for (const folder of foldersAbove(normal)) own.add(folder);
  }
  return (importingPath, module) =>
    foldersAbove(posix.normalize(importingPath)).some((folder) => own.has(posix.join(folder, module)));
}

type Tree = ReturnType<typeof parser.parse>;
type SyntaxNode = Tree["topNode"];

/** Names of the functions that import what their first argument names, unless the file gives them others. */
const importers: readonly string[] = ["__import__", "import_module", "importlib.__import__", "importlib.import_module"];

/** Inside them code may not run, or may fail without harm. */
const conditions: ReadonlySet<string> = new Set([
  ...["TryStatement", "IfStatement", "WithStatement", "MatchStatement", "WhileStatement", "ForStatement"],
  ...["FunctionDefinition", "LambdaExpression", "ConditionalExpression"],
]);

/**
 * The modules that a Python file imports, in no order, as dotted paths that may end in more than a module:
 * `from a.b import c` gives `a.b.c`. Statements count wherever they stand, and calls of `__import__` and
 * `import_module` with a literal; relative imports and those for type checkers only do not. Code that does not parse
 * gives what is around the mistake. True: the program cannot run without.
 */
export function findModules(source: string): ReadonlyMap<string, boolean> {
  const text = source.replace(/^\uFEFF/, "");
  const found = new Map<string, boolean>();
  const add = (path: string, isCertain: boolean): void => void found.set(path, isCertain || found.get(path) === true);
  const calls: { readonly callee: string; readonly path: string; readonly isCertain: boolean }[] = [];
  let depth = 0;
  const callees = new Set(importers);
  parser.parse(text).iterate({
    enter({ name, node }) {
      if (conditions.has(name)) depth += 1;
      if (name === "Body") return !isForTypeCheckers(node, text);
      if (name === "CallExpression") {
        const path = literalArgument(node, text);
        if (path !== null) calls.push({ callee: textOf(node.firstChild, text), path, isCertain: depth === 0 });
      }
      if (name !== "ImportStatement") return true;
      for (const { path, alias } of importsOf(node, text)) {
        add(path.normalize("NFKC"), depth === 0);
        if (path === "importlib") callees.add(`${alias}.import_module`);
        if (path === "importlib.import_module") callees.add(alias);
      }
      return false;
    },
    leave({ name }) {
      if (conditions.has(name)) depth -= 1;
    },
  });
  for (const { callee, path, isCertain } of calls) if (callees.has(callee)) add(path, isCertain);
  return found;
}

function textOf(node: SyntaxNode | null, text: string): string {
  return node === null ? "" : text.slice(node.from, node.to);
}

/** The branch of `if TYPE_CHECKING:`. */
function isForTypeCheckers(body: SyntaxNode, text: string): boolean {
  if (body.parent?.name !== "IfStatement") return false;
  const condition = body.prevSibling;
  // Longer text is something else, and need not be looked at.
  if (condition === null || condition.to - condition.from > 100) return false;
  return /^\(*\s*(?:\w+\.)*TYPE_CHECKING\s*\)*$/.test(textOf(condition, text));
}

interface Import {
  readonly path: string;
  /** The name that it has in the file. */
  readonly alias: string;
}

/** The statement's tokens, one after another: `from`, names, dots, commas, `import`, `as`. */
function importsOf(statement: SyntaxNode, text: string): readonly Import[] {
  const found: Import[] = [];
  let from: string | null = null;
  let path = "";
  let alias: string | null = null;
  let afterAs = false;
  const finish = (): void => {
    const whole = from === null ? path : path === "" ? from : `${from}.${path}`;
    if (path !== "") found.push({ path: whole, alias: alias ?? path });
    [path, alias, afterAs] = ["", null, false];
  };
  for (let token = statement.firstChild; token !== null; token = token.nextSibling) {
    const word = textOf(token, text);
    if (token.name === "VariableName" && afterAs) alias = word;
    else if (token.name === "VariableName") path += word;
    else if (token.name === "as") afterAs = true;
    else if (word === ",") finish();
    else if (word === "." || token.name === "Ellipsis") {
      // A leading dot: relative, of the program's own.
      if (path === "") return [];
      path += ".";
    } else if (token.name === "import" && path !== "") [from, path] = [path, ""];
    else if (word === "*" && from !== null) found.push({ path: from, alias: from });
  }
  finish();
  return found;
}

/** The first argument, or the one called `name`, when it is a plain string that a module's path could be. */
function literalArgument(call: SyntaxNode, text: string): string | null {
  const first = call.getChild("ArgList")?.firstChild?.nextSibling ?? null;
  const isNamed = first?.name === "VariableName" && textOf(first, text) === "name";
  const value = isNamed && first.nextSibling?.name === "AssignOp" ? first.nextSibling.nextSibling : first;
  if (value?.name !== "String" || value.to - value.from > 300) return null;
  return /^[rRuU]?("""|'''|"|')(\w[\w.]*)\1$/u.exec(textOf(value, text))?.[2] ?? null;
}
