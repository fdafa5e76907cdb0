import type { SourceFile } from "./imported-packages.ts";
import { npmPackage } from "./npm-package.ts";
import { dialectsOf } from "./dialects.ts";
import {
  parseJavaScript,
  isNode,
  literalText,
  nodesIn,
  nameOf,
  walkScopes,
  isFunction,
  type ParsedJavaScript,
  type SyntaxNode,
  type Scope,
} from "./parse-javascript.ts";

/** The packages that files of JavaScript and TypeScript import, in no order; true: the main file cannot run without. */
export function npmPackages(files: readonly SourceFile[], main: string): ReadonlyMap<string, boolean> {
  const found = new Map<string, boolean>();
  for (const { path, content } of files) {
    for (const [specifier, isCertain] of findSpecifiers(path, content)) {
      const spec = npmPackage(specifier);
      if (spec !== null) found.set(spec, (isCertain && path === main) || found.get(spec) === true);
    }
  }
  // One with its version stands for the same package without.
  for (const [spec, isCertain] of found) {
    const version = spec.indexOf("@", 1);
    if (version <= 0) continue;
    const bare = spec.slice(0, version);
    found.set(spec, isCertain || found.get(bare) === true);
    found.delete(bare);
  }
  return found;
}

/**
 * The specifiers that the file loads when it runs, in no order: static and dynamic imports, re-exports, `require`.
 * Types, and specifiers that have to be computed, are left out. A file that does not parse gives what its parser
 * could make of it, often nothing. True: the program cannot run without.
 */
export function findSpecifiers(path: string, source: string): ReadonlyMap<string, boolean> {
  const { program, comments } = parse(path, source.replace(/^\uFEFF/, ""));
  const found = new Map<string, boolean>();
  const add = (specifier: string, isCertain: boolean): void =>
    void found.set(specifier, isCertain || found.get(specifier) === true);
  const calls = new RequireCalls();
  let hasJsx = false;
  walkScopes(program, (node, scope) => {
    calls.visit(node, scope);
    if (node.type === "JSXElement" || node.type === "JSXFragment") hasJsx = true;
    const specifier = loadedBy(node);
    if (specifier !== null) add(specifier, scope.isCertain);
  });
  for (const { specifier, isCertain } of calls.specifiers()) add(specifier, isCertain);
  // In other files neither Node nor the compiler takes these elements.
  if (hasJsx && /\.[jt]sx$/.test(path)) {
    const specifier = jsxSpecifier(comments.map(({ value }) => value));
    if (specifier !== null) add(specifier, true);
  }
  return found;
}

/** Read in the first dialect that fits, or else in the last. */
function parse(path: string, source: string): Pick<ParsedJavaScript, "program" | "comments"> {
  let parsed: ParsedJavaScript | null = null;
  for (const dialect of dialectsOf(path)) {
    parsed = parseJavaScript(source, dialect, "unambiguous");
    // A mistake that the parser could not get over leaves nothing.
    if (nodesIn(parsed.program["body"]).length > 0) break;
  }
  return parsed ?? { program: { type: "Program", start: 0, end: 0 }, comments: [] };
}

function loadedBy(node: SyntaxNode): string | null {
  switch (node.type) {
    case "ImportDeclaration":
      return isTypeOnly(node, "importKind") ? null : literalText(node["source"]);
    case "ExportNamedDeclaration":
    case "ExportAllDeclaration":
      return isTypeOnly(node, "exportKind") ? null : literalText(node["source"]);
    case "ImportExpression":
      return literalText(node["source"]);
    case "TSImportEqualsDeclaration": {
      const reference = node["moduleReference"];
      const isType = node["importKind"] === "type";
      return isType || !isNode(reference) ? null : literalText(reference["expression"]);
    }
    default:
      return null;
  }
}

/** `import type ...`, or one that names types only: the compiler takes both away. */
function isTypeOnly(node: SyntaxNode, kind: "importKind" | "exportKind"): boolean {
  if (node[kind] === "type") return true;
  const names = nodesIn(node["specifiers"]);
  return names.length > 0 && names.every((name) => name[kind] === "type");
}

/**
 * What the elements of a file are made with: React, unless a comment names another source. Null for the classic way,
 * which uses what the file has in scope.
 */
function jsxSpecifier(comments: readonly string[]): string | null {
  let specifier = "react";
  for (const comment of comments) {
    if (/@jsxRuntime\s+classic\b/.test(comment)) return null;
    specifier = /@jsxImportSource\s+(\S+)/.exec(comment)?.[1] ?? specifier;
  }
  return `${specifier}/jsx-runtime`;
}

interface Call {
  /** The function's name. */
  readonly name: string;
  readonly specifier: string;
  readonly start: number;
  readonly isCertain: boolean;
}

/** Finds the calls of Node's own `require`, and of those that `createRequire` makes, among the nodes that it is shown. */
class RequireCalls {
  readonly #calls: Call[] = [];
  readonly #made = new Set<string>();
  /** Parts of the code in which `require` is something of the program's own. */
  readonly #shadows: SyntaxNode[] = [];

  visit(node: SyntaxNode, scope: Scope): void {
    if (node.type === "CallExpression") this.#call(node, scope);
    else if (node.type === "VariableDeclaration") this.#variables(node, scope);
    else if (node.type === "CatchClause") this.#shadow([node["param"]], node);
    else if (node.type === "ClassDeclaration") this.#shadow([node["id"]], scope.blockNode);
    else if (node.type === "ImportDeclaration") this.#imported(node, scope);
    else if (isFunction(node)) this.#function(node, scope);
  }

  specifiers(): readonly Pick<Call, "specifier" | "isCertain">[] {
    const isShadowed = (call: Call): boolean =>
      call.name === "require" && this.#shadows.some(({ start, end }) => start <= call.start && call.start < end);
    return this.#calls
      .filter((call) => call.name === "require" || this.#made.has(call.name))
      .filter((call) => !isShadowed(call));
  }

  #call({ callee, arguments: given, start }: SyntaxNode, { isCertain }: Scope): void {
    const specifier = literalText(nodesIn(given)[0]);
    if (specifier === null) return;
    const name = isCreateRequire(callee) || isModuleRequire(callee) ? "require" : nameOf(callee);
    // A call that brings its own function cannot be shadowed: it counts from before the first character.
    if (name !== null) this.#calls.push({ name, specifier, start: nameOf(callee) === null ? -1 : start, isCertain });
  }

  #variables(node: SyntaxNode, scope: Scope): void {
    for (const { id, init } of nodesIn(node["declarations"])) {
      const name = nameOf(id);
      if (name !== null && isCreateRequire(init)) this.#made.add(name);
      else this.#shadow([id], node["kind"] === "var" ? scope.functionNode : scope.blockNode);
    }
  }

  #function(node: SyntaxNode, scope: Scope): void {
    this.#shadow(nodesIn(node["params"]), node);
    this.#shadow([node["id"]], node.type === "FunctionDeclaration" ? scope.blockNode : node);
  }

  #imported(node: SyntaxNode, scope: Scope): void {
    for (const { local } of nodesIn(node["specifiers"])) this.#shadow([local], scope.blockNode);
  }

  #shadow(patterns: readonly unknown[], where: SyntaxNode): void {
    if (bindsRequire(patterns)) this.#shadows.push(where);
  }
}

/** `createRequire(...)` or `module.createRequire(...)`. */
function isCreateRequire(value: unknown): boolean {
  if (!isNode(value) || value.type !== "CallExpression") return false;
  const { callee } = value;
  return nameOf(callee) === "createRequire" || (isNode(callee) && nameOf(callee["property"]) === "createRequire");
}

/** `module.require` */
function isModuleRequire(value: unknown): boolean {
  return isNode(value) && nameOf(value["object"]) === "module" && nameOf(value["property"]) === "require";
}

function bindsRequire(patterns: readonly unknown[]): boolean {
  const waiting = [...patterns];
  while (waiting.length > 0) {
    const pattern = waiting.pop();
    if (nameOf(pattern) === "require") return true;
    if (!isNode(pattern)) continue;
    const { properties, elements, value, left, argument, parameter } = pattern;
    if (pattern.type === "Property") waiting.push(value);
    else waiting.push(...nodesIn(properties), ...nodesIn(elements), left, argument, parameter);
  }
  return false;
}
