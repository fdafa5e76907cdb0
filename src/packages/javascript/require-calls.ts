import { isNode, literalText, nameOf, nodesIn, type SyntaxNode } from "./syntax-node.ts";
import { isFunction, type Scope } from "./walk-scopes.ts";

interface Call {
  /** The function's name. */
  readonly name: string;
  readonly specifier: string;
  readonly start: number;
  readonly isCertain: boolean;
}

/** Finds the calls of Node's own `require`, and of those that `createRequire` makes, among the nodes that it is shown. */
export class RequireCalls {
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
