import {
  parseJavaScript,
  isNode,
  literalText,
  nameOf,
  nodesIn,
  isFunction,
  type SyntaxNode,
} from "../../../packages/parse-javascript.ts";

/** What becomes of one call's code. */
export type NotebookCode =
  | { readonly code: string; readonly places: CodePlaces }
  /** Line and column from 1. */
  | { readonly mistake: { readonly message: string; readonly line: number; readonly column: number } }
  /** It has what JavaScript does not know yet. */
  | { readonly needsCompiler: true };

/** Where what the interpreter runs stands in the call's own code. */
interface CodePlaces {
  /** How many lines of what runs are the call's. */
  readonly lines: number;
  /**
   * By line, from 1, the pieces of each that is not as it was: its column and that in the code, from 0, and whether it is
   * the code's (1) or stands for what begins there (0).
   */
  readonly edits: Readonly<Record<number, readonly (readonly [number, number, 0 | 1])[]>>;
}

/**
 * The code as one expression: a promise of the last statement's value. What its top level declares are variables of the
 * interpreter, which later calls have and may declare again; imports are loaded where they stand. Every line stays where it
 * is. The interpreter brings the functions of `__glovebox`.
 */
export function notebookCode(source: string): NotebookCode {
  const { program, mistake } = parseJavaScript(source, "jsx", "module");
  if (mistake !== null) return { mistake: { message: mistake.message, ...placeOf(source, mistake.start) } };
  const rewriting = new Rewriting(source);
  const body = nodesIn(program["body"]);
  for (const [index, statement] of body.entries()) rewriting.topLevel(statement, index === body.length - 1);
  if (!rewriting.inside(body)) return { needsCompiler: true };
  if (source.startsWith("#!")) rewriting.replace(0, 2, "//");
  const { text, places } = rewriting.finish("(async () => {");
  return { code: `${text}\n})()`, places };
}

/** A text made of parts of a source, from its beginning to its end, and of others. */
class PlacedText {
  readonly #source: string;
  readonly #edits: Record<number, [number, number, 0 | 1][]> = {};
  #line = 1;
  #column = 0;
  /** Offset of the source's line that it has come to. */
  #lineStart = 0;
  text = "";

  constructor(source: string) {
    this.#source = source;
  }

  get places(): CodePlaces {
    return { lines: this.#line, edits: this.#edits };
  }

  keep(start: number, end: number): void {
    this.#add(this.#source.slice(start, end), start, end, 1);
  }

  /** In place of what stands there. */
  put(text: string, start: number, end: number): void {
    this.#add(text, start, end, 0);
  }

  #add(text: string, start: number, end: number, isKept: 0 | 1): void {
    if (text !== "") (this.#edits[this.#line] ??= []).push([this.#column, start - this.#lineStart, isKept]);
    this.text += text;
    const ends = text.split("\n");
    this.#line += ends.length - 1;
    this.#column = (ends.length === 1 ? this.#column : 0) + (ends.at(-1) ?? "").length;
    const lastBreak = this.#source.slice(start, end).lastIndexOf("\n");
    if (lastBreak !== -1) this.#lineStart = start + lastBreak + 1;
  }
}

class Rewriting {
  readonly #source: string;
  readonly #edits: { readonly start: number; readonly end: number; readonly text: string }[] = [];
  readonly #names = new Set<string>();
  readonly #functions: string[] = [];

  constructor(source: string) {
    this.#source = source;
  }

  /** What stands before the code's first character. */
  get beginning(): string {
    const names = this.#names.size === 0 ? "" : `__glovebox.declare(${JSON.stringify([...this.#names])});`;
    const functions = this.#functions.map((name) => `${name}=__glovebox.named(${name}$gb,${JSON.stringify(name)});`);
    return names + functions.join("");
  }

  /** The text behind `opening`, and where it stands in the source. */
  finish(opening: string): { readonly text: string; readonly places: CodePlaces } {
    const result = new PlacedText(this.#source);
    result.put(opening + this.beginning, 0, 0);
    let at = 0;
    for (const { start, end, text } of this.#edits.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
      result.keep(at, start);
      result.put(text, start, end);
      at = end;
    }
    result.keep(at, this.#source.length);
    return result;
  }

  replace(start: number, end: number, text: string): void {
    const lines = this.#source.slice(start, end).split("\n").length - 1;
    this.#edits.push({ start, end, text: text + "\n".repeat(lines) });
  }

  /** A statement of the top level. */
  topLevel(statement: SyntaxNode, isLast: boolean): void {
    switch (statement.type) {
      case "ImportDeclaration":
        return this.#import(statement);
      case "ExportAllDeclaration":
      case "ExportNamedDeclaration":
      case "ExportDefaultDeclaration":
        return this.#export(statement, isLast);
      case "FunctionDeclaration":
        return this.#function(statement);
      case "ClassDeclaration":
        return this.#class(statement);
      case "VariableDeclaration":
        if (/^(?:const|let|var)$/.test(String(statement["kind"]))) this.#variables(statement, null);
        return;
      case "ExpressionStatement":
        if (isLast) this.#last(statement);
        return;
      default:
        return;
    }
  }

  /** What stands deeper; false where only a compiler helps. Without recursion: hostile code nests as deep as it likes. */
  inside(body: readonly SyntaxNode[]): boolean {
    type Waiting = { readonly node: SyntaxNode; readonly parent: SyntaxNode | null; readonly isOfProgram: boolean };
    const waiting: Waiting[] = body.map((node) => ({ node, parent: null, isOfProgram: true }));
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { node, parent, isOfProgram } = next;
      if (node.type === "Decorator" || node.type.startsWith("JSX")) return false;
      if (node.type === "ImportExpression") this.replace(node.start, node.start + "import".length, "__glovebox.load");
      if (node.type === "MetaProperty" && nameOf(node["meta"]) === "import")
        this.replace(node.start, node.end, "__glovebox.meta");
      const isNested = parent !== null && !parent.type.startsWith("Export");
      if (isOfProgram && isNested && node.type === "VariableDeclaration" && node["kind"] === "var")
        this.#variables(node, parent);
      const isInner =
        isOfProgram && !isFunction(node) && node.type !== "StaticBlock" && node.type !== "PropertyDefinition";
      for (const value of Object.values(node)) {
        for (const child of Array.isArray(value) ? value : [value]) {
          if (isNode(child)) waiting.push({ node: child, parent: node, isOfProgram: isInner });
        }
      }
    }
    return true;
  }

  #import(node: SyntaxNode): void {
    const names = nodesIn(node["specifiers"]).map(({ type, local, imported }) => {
      const name = nameOf(local) ?? "";
      this.#names.add(name);
      if (type === "ImportDefaultSpecifier") return ["default", name];
      if (type === "ImportNamespaceSpecifier") return ["*", name];
      return [nameOf(imported) ?? literalText(imported) ?? "", name];
    });
    this.replace(node.start, node.end, `await __glovebox.import(${argumentsOf(node, JSON.stringify(names))});`);
  }

  #export(node: SyntaxNode, isLast: boolean): void {
    const { declaration, source } = node;
    if (isNode(source)) return this.replace(node.start, node.end, `await __glovebox.load(${argumentsOf(node)});`);
    if (!isNode(declaration)) return this.replace(node.start, node.end, "");
    const isNamed = declaration.type === "VariableDeclaration" || isNode(declaration["id"]);
    const words = /^export(?:\s+default\b)?/.exec(this.#source.slice(node.start, node.end))?.[0] ?? "";
    const isValue = words !== "export" && !(isNamed && declaration.type.endsWith("Declaration"));
    this.replace(node.start, node.start + words.length, isValue ? (isLast ? "return " : "void ") : "");
    if (!isValue) this.topLevel(declaration, isLast);
  }

  /** Its own name is the interpreter's variable, so that one which a later call declares takes its place everywhere. */
  #function(node: SyntaxNode): void {
    const { id } = node;
    const name = nameOf(id);
    if (name === null || !isNode(id)) return;
    this.#names.add(name);
    this.#functions.push(name);
    this.replace(id.start, id.end, `${name}$gb`);
  }

  #class(node: SyntaxNode): void {
    const name = nameOf(node["id"]);
    if (name === null) return;
    this.#names.add(name);
    this.replace(node.start, node.start, `${name}=`);
    this.replace(node.end, node.end, ";");
  }

  /** As assignments; `parent` is the statement around it, of a nested one. */
  #variables(node: SyntaxNode, parent: SyntaxNode | null): void {
    const declarators = nodesIn(node["declarations"]);
    for (const { id } of declarators) for (const name of boundNames(id)) this.#names.add(name);
    const first = declarators[0];
    if (first === undefined) return;
    if (parent !== null && parent.type.startsWith("For") && parent["body"] !== node) {
      return this.replace(node.start, first.start, "");
    }
    this.replace(node.start, first.start, "void ");
    for (const { id, init, start, end } of declarators) {
      this.replace(start, start, "(");
      const none = node["kind"] === "var" ? "" : "=void 0";
      this.replace(end, end, isNode(init) || !isNode(id) ? ")" : `${none})`);
    }
  }

  #last({ start, end }: SyntaxNode): void {
    this.replace(start, start, "return (");
    const close = this.#source[end - 1] === ";" ? end - 1 : end;
    this.replace(close, close, ")");
  }
}

/** A place in what a compiler made, by its column, and its line and column in the source; all from 0. */
export type MappedPlace = readonly [column: number, sourceLine: number, sourceColumn: number];

const digits: ReadonlyMap<string, number> = new Map(
  Array.from("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", (digit, value) => [digit, value]),
);

/** The places of each line, by the field `mappings` of a source map with one source. */
export function readMappings(mappings: string): readonly (readonly MappedPlace[])[] {
  let sourceLine = 0;
  let sourceColumn = 0;
  return mappings.split(";").map((line) => {
    let column = 0;
    const places: MappedPlace[] = [];
    for (const entry of line.split(",")) {
      const [columns = 0, , lines, sourceColumns] = numbersOf(entry);
      column += columns;
      if (lines === undefined || sourceColumns === undefined) continue;
      sourceLine += lines;
      sourceColumn += sourceColumns;
      places.push([column, sourceLine, sourceColumn]);
    }
    return places;
  });
}

/** At most five numbers, in base 64 with the lowest bits first: five bits a digit, and the sign as the lowest of all. */
function numbersOf(entry: string): readonly number[] {
  const numbers: number[] = [];
  let value = 0;
  let bits = 0;
  for (const character of entry) {
    const digit = digits.get(character) ?? 0;
    value += (digit & 31) * 2 ** bits;
    bits += 5;
    if ((digit & 32) !== 0 && bits < 35) continue;
    numbers.push(value % 2 === 0 ? value / 2 : -(value - 1) / 2);
    value = bits = 0;
    if (numbers.length === 5) break;
  }
  return numbers;
}

function placeOf(source: string, offset: number): { readonly line: number; readonly column: number } {
  const before = source.slice(0, offset).split("\n");
  return { line: before.length, column: (before.at(-1) ?? "").length + 1 };
}

/** Arguments that load what an import or export names. */
function argumentsOf(node: SyntaxNode, names?: string): string {
  const attributes = nodesIn(node["attributes"]).map(({ key, value }) => [
    nameOf(key) ?? literalText(key),
    literalText(value),
  ]);
  const options =
    attributes.length === 0
      ? []
      : [JSON.stringify({ with: Object.fromEntries(attributes) as Record<string, unknown> })];
  return [JSON.stringify(literalText(node["source"])), names ?? [], options].flat().join(", ");
}

/** The names that a pattern declares. */
function boundNames(pattern: unknown): readonly string[] {
  const names: string[] = [];
  const waiting = [pattern];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (!isNode(next)) continue;
    const name = nameOf(next);
    if (name !== null) names.push(name);
    else if (next.type === "Property") waiting.push(next["value"]);
    else waiting.push(...nodesIn(next["properties"]), ...nodesIn(next["elements"]), next["left"], next["argument"]);
  }
  return names;
}
