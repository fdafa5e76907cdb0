import { isNode, nameOf, type SyntaxNode } from "./syntax-node.ts";

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
