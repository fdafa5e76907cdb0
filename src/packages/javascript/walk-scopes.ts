import { isNode, type SyntaxNode } from "./syntax-node.ts";

/** Where a declaration at some place in the code counts. */
export interface Scope {
  /** The function around it, or the program: for `var`. */
  readonly functionNode: SyntaxNode;
  /** The block around it: for `let`, `const`, classes and functions. */
  readonly blockNode: SyntaxNode;
}

const functions = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);
const blocks = new Set(["BlockStatement", "SwitchStatement", "ForStatement", "ForInStatement", "ForOfStatement"]);

export function isFunction(node: SyntaxNode): boolean {
  return functions.has(node.type);
}

/**
 * Visits every node that can run, with the scope that it stands in; ambient declarations (`declare ...`) are left out.
 * Without recursion: hostile code nests as deep as it likes.
 */
export function walkScopes(program: SyntaxNode, visit: (node: SyntaxNode, scope: Scope) => void): void {
  const waiting: { readonly node: SyntaxNode; readonly scope: Scope }[] = [
    { node: program, scope: { functionNode: program, blockNode: program } },
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
  if (isFunction(node)) return { functionNode: node, blockNode: node };
  if (node.type === "TSModuleBlock" || node.type === "StaticBlock") return { functionNode: node, blockNode: node };
  return blocks.has(node.type) ? { ...scope, blockNode: node } : scope;
}
