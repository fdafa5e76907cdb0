import { isDeepStrictEqual } from "node:util";
import { parse, stringify, type TomlTable } from "smol-toml";

/**
 * The text of a TOML file with the table set at the keys; everything else is kept as written. Null if it already has
 * that table. @throws SyntaxError for a text that cannot be changed safely
 */
export function mergeToml(
  text: string,
  keys: readonly string[],
  table: Readonly<Record<string, unknown>>,
): string | null {
  const before = read(text);
  if (isDeepStrictEqual(plain(at(before, keys)), table)) return null;
  const header = `[${keys.map(keyText).join(".")}]`;
  const meant = plain(withTable(before, keys, table));
  for (const block of blocksOf(table)) {
    const merged = replaceTable(text, header, `${header}\n${block}`.trimEnd());
    // The text was edited line by line, so check that the result is what was meant, whatever the file contained.
    if (isDeepStrictEqual(parsed(merged), meant)) return merged;
  }
  throw new SyntaxError(`it holds ${header} in a form that cannot be replaced`);
}

/** Its lines: nested tables already have their own lines, or are written inline. */
function blocksOf(table: Readonly<Record<string, unknown>>): readonly string[] {
  const isTable = (value: unknown): value is object =>
    typeof value === "object" && value !== null && !Array.isArray(value);
  const entries = Object.entries(table);
  const own = stringify(Object.fromEntries(entries.filter(([, value]) => !isTable(value))));
  const inline = entries.flatMap(([name, value]) =>
    isTable(value) ? [`${keyText(name)} = ${inlineTable(value)}\n`] : [],
  );
  return inline.length === 0 ? [own] : [own, [own.trimEnd(), ...inline].join("\n")];
}

function inlineTable(table: object): string {
  return `{ ${Object.entries(table)
    .map(([name, value]) => stringify({ [name]: value as string }).trimEnd())
    .join(", ")} }`;
}

function keyText(key: string): string {
  return /^[\w-]+$/.test(key) ? key : JSON.stringify(key);
}

/** Parses a text; null if it is not TOML. */
function parsed(text: string): unknown {
  try {
    return plain(read(text));
  } catch {
    return null;
  }
}

/** The tables of a text, by their names. @throws SyntaxError if it is not TOML */
export function readToml(text: string): Readonly<Record<string, unknown>> {
  return plain(read(text)) as Readonly<Record<string, unknown>>;
}

function read(text: string): TomlTable {
  try {
    return parse(text);
  } catch (error) {
    throw new SyntaxError("it is not valid TOML", { cause: error });
  }
}

/** Replaces the lines from the header to the next one, or adds them at the end. */
function replaceTable(text: string, header: string, block: string): string {
  const lines = text.split("\n");
  const start = lines.findIndex((line) => line.trim() === header);
  if (start === -1) return text.trim() === "" ? `${block}\n` : `${text.trimEnd()}\n\n${block}\n`;
  const next = lines.findIndex((line, index) => index > start && /^\s*\[/.test(line));
  const rest = next === -1 ? [""] : ["", ...lines.slice(next)];
  return [...lines.slice(0, start), block, ...rest].join("\n");
}

function at(table: TomlTable, keys: readonly string[]): unknown {
  let part: unknown = table;
  for (const key of keys) part = (part as Readonly<Record<string, unknown>> | undefined)?.[key];
  return part;
}

function withTable(table: TomlTable, [key = "", ...rest]: readonly string[], value: object): object {
  const inner = (table[key] ?? {}) as TomlTable;
  return { ...table, [key]: rest.length === 0 ? value : withTable(inner, rest, value) };
}

/** Without the prototypes and classes of the parser. */
function plain(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}
