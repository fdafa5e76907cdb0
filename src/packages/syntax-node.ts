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
