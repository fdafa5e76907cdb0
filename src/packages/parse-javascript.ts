import { parseSync, type Comment } from "oxc-parser";
import type { Dialect } from "./dialects.ts";

/** A node of the ESTree that the parser gives; what it holds beyond this is looked at where it is needed. */
export interface SyntaxNode {
  readonly type: string;
  /** Offset in UTF-16 units. */
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

/** The nodes in a field that holds one node, a list of them, or neither. */
export function nodesIn(value: unknown): readonly SyntaxNode[] {
  if (Array.isArray(value)) return value.filter(isNode);
  return isNode(value) ? [value] : [];
}

/** The name of an identifier, else null. */
export function nameOf(value: unknown): string | null {
  return isNode(value) && value.type === "Identifier" ? String(value["name"]) : null;
}

/** The text of a string, or of a template without substitutions; null for what has to be computed. */
export function literalText(value: unknown): string | null {
  if (!isNode(value)) return null;
  if (value.type === "Literal") return typeof value["value"] === "string" ? value["value"] : null;
  if (value.type !== "TemplateLiteral" || nodesIn(value["expressions"]).length > 0) return null;
  const [quasi] = nodesIn(value["quasis"]);
  const parts = quasi?.["value"] as { readonly cooked?: string | null } | undefined;
  return parts?.cooked ?? null;
}

/** A file as its parser read it. */
export interface ParsedJavaScript {
  readonly program: SyntaxNode;
  readonly comments: readonly Comment[];
  /** The first mistake; null where there is none. */
  readonly mistake: { readonly message: string; readonly start: number } | null;
}

/** Parses; loads the parser: for a process of its own. */
export function parseJavaScript(
  source: string,
  dialect: Dialect,
  sourceType: "module" | "unambiguous",
): ParsedJavaScript {
  const result = parseSync("file", source, { lang: dialect, sourceType, preserveParens: false });
  const [error] = result.errors;
  return {
    program: result.program as unknown as SyntaxNode,
    comments: result.comments,
    mistake: error === undefined ? null : { message: error.message, start: error.labels[0]?.start ?? 0 },
  };
}

/** Where a declaration at some place in the code counts. */
export interface Scope {
  /** The function around it, or the program: for `var`. */
  readonly functionNode: SyntaxNode;
  /** The block around it: for `let`, `const`, classes and functions. */
  readonly blockNode: SyntaxNode;
  /** Whether what stands there runs, and ends the program when it fails, whenever the program runs. */
  readonly isCertain: boolean;
}

const functions = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);
const blocks = new Set(["BlockStatement", "SwitchStatement", "ForStatement", "ForInStatement", "ForOfStatement"]);
/** Inside them code may not run, or may fail without harm. */
const conditions = new Set([
  ...functions,
  ...[
    "TryStatement",
    "IfStatement",
    "ConditionalExpression",
    "LogicalExpression",
    "SwitchStatement",
    "PropertyDefinition",
  ],
  ...["ForStatement", "ForInStatement", "ForOfStatement", "WhileStatement", "DoWhileStatement"],
]);

export function isFunction(node: SyntaxNode): boolean {
  return functions.has(node.type);
}

/**
 * Visits every node that can run, with the scope that it stands in; ambient declarations (`declare ...`) are left out.
 * Without recursion: hostile code nests as deep as it likes.
 */
export function walkScopes(program: SyntaxNode, visit: (node: SyntaxNode, scope: Scope) => void): void {
  const waiting: { readonly node: SyntaxNode; readonly scope: Scope }[] = [
    { node: program, scope: { functionNode: program, blockNode: program, isCertain: true } },
  ];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { node, scope } = next;
    if (node["declare"] === true) continue;
    visit(node, scope);
    const inner = scopeInside(node, scope);
    for (const value of Object.values(node)) {
      for (const child of Array.isArray(value) ? value : [value]) {
        if (isNode(child)) waiting.push({ node: child, scope: inner });
      }
    }
  }
}

function scopeInside(node: SyntaxNode, scope: Scope): Scope {
  const isCertain = scope.isCertain && !conditions.has(node.type) && !isPromiseCall(node);
  if (isFunction(node)) return { functionNode: node, blockNode: node, isCertain };
  if (node.type === "TSModuleBlock" || node.type === "StaticBlock")
    return { functionNode: node, blockNode: node, isCertain };
  if (blocks.has(node.type)) return { ...scope, blockNode: node, isCertain };
  return isCertain === scope.isCertain ? scope : { ...scope, isCertain };
}

/** `.catch(...)` or `.then(...)`: the promise before it may fail. */
function isPromiseCall({ type, callee }: SyntaxNode): boolean {
  if (type !== "CallExpression" || !isNode(callee)) return false;
  const name = nameOf(callee["property"]);
  return name === "catch" || name === "then";
}
