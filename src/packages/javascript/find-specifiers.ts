import { dialectsOf } from "./dialects.ts";
import { parseJavaScript, type ParsedJavaScript } from "./parse-javascript.ts";
import { RequireCalls } from "./require-calls.ts";
import { isNode, literalText, nodesIn, type SyntaxNode } from "./syntax-node.ts";
import { walkScopes } from "./walk-scopes.ts";

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
