import { isDeepStrictEqual } from "node:util";
import { parse as parseToml, stringify, type TomlTable } from "smol-toml";
import { chmod, copyFile, mkdir, readFile, realpath, rename, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { nearest } from "../base/nearest.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import { mcpClients, type ClientPlace, type McpClient, type ServerCommand } from "./clients.ts";
import { applyEdits, modify, parse, type ParseError } from "jsonc-parser";

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

/**
 * The tables of a text, by their names. @throws SyntaxError if it is not TOML
 * @hostileText Exported for the test that feeds it.
 */
export function readToml(text: string): Readonly<Record<string, unknown>> {
  return plain(read(text)) as Readonly<Record<string, unknown>>;
}

/** A planned installation; nothing is written yet. */
interface InstallPlan {
  readonly client: McpClient;
  readonly file: string;
  /** The complete new text of the file; null if nothing has to change. */
  readonly text: string | null;
}

interface InstallRequest extends ConfigurationRequest {
  readonly command: ServerCommand;
}

/** Which configuration to change. */
interface ConfigurationRequest {
  /** Name of a client. */
  readonly name: string;
  /** For the project instead of the user. */
  readonly project: boolean;
  readonly place: ClientPlace;
}

/** How to change one server's entry there. */
interface EntryChange extends ConfigurationRequest {
  readonly server: string;
  /** @throws GloveboxError for an entry that cannot be changed */
  readonly change: (entry: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;
}

/**
 * What would be written for a client; keeps everything else in its configuration.
 * @throws INVALID_REQUEST for an unknown client, one without projects, and a file that cannot be changed safely
 */
export function planInstall({ command, ...where }: InstallRequest): Promise<InstallPlan> {
  return planWriting(where, (client) => ({ keys: client.keys, entry: client.entry(command) }));
}

/**
 * What would be written to change another server's entry.
 * @throws as `planInstall`, and INVALID_REQUEST for an unknown server, listing the known ones
 */
export function planChange({ server, change, ...where }: EntryChange): Promise<InstallPlan> {
  return planWriting(where, (client, before) => {
    const folder = client.keys.slice(0, -1);
    let servers: unknown = client.format === "json" ? readJson(before) : readToml(before);
    for (const key of folder) servers = (servers as Readonly<Record<string, unknown>> | null | undefined)?.[key];
    const known = Object.keys(servers ?? {});
    if (!known.includes(server)) throw noServer(client, server, known);
    const entry = (servers as Readonly<Record<string, Readonly<Record<string, unknown>>>>)[server] ?? {};
    return { keys: [...folder, server], entry: change(entry) };
  });
}

/** Writes it atomically; resolves to the path of the backup, null if there was no file. */
export async function writeInstall({ file, text }: InstallPlan & { readonly text: string }): Promise<string | null> {
  // A link is kept: some people keep their configuration elsewhere.
  const target = await realpath(file).catch(() => file);
  const mode = await stat(target).then(
    (found) => found.mode & 0o777,
    () => null,
  );
  await mkdir(path.dirname(target), { recursive: true });
  const backup = mode === null ? null : `${target}.before-glovebox`;
  if (backup !== null) await copyFile(target, backup);
  const fresh = `${target}.glovebox-new`;
  await writeFile(fresh, text, { mode: mode ?? 0o600 });
  await chmod(fresh, mode ?? 0o600);
  await rename(fresh, target);
  return backup;
}

/** A file with just the entry, for adding it by hand. */
export function entryText(client: McpClient, command: ServerCommand): string {
  const merge = client.format === "json" ? mergeJson : mergeToml;
  return merge("", client.keys, client.entry(command)) ?? "";
}

/** @throws INVALID_REQUEST that lists the known clients */
export function clientOf(name: string): McpClient {
  const known = mcpClients.map((client) => client.name);
  const client = mcpClients.find((each) => each.name === name);
  if (client !== undefined) return client;
  const meant = nearest(name, known);
  throw new GloveboxError("INVALID_REQUEST", `Unknown client: ${JSON.stringify(name)}.`, {
    suggestion: `${meant === null ? "" : `Did you mean ${meant}? `}Known clients: ${known.join(", ")}. For another one, configure the command \`glovebox mcp\`.`,
    context: { client: name, clients: known },
  });
}

/**
 * The text of a JSON file, comments allowed, with the value set at the keys; all other values and comments are kept.
 * Null if it already has that value. @throws SyntaxError for a text that cannot be changed safely
 */
export function mergeJson(text: string, keys: readonly string[], value: unknown): string | null {
  const source = text.trim() === "" ? "{}\n" : text;
  const errors: ParseError[] = [];
  let part: unknown = parse(source, errors, { allowTrailingComma: true });
  if (errors.length > 0) throw new SyntaxError("it is not valid JSON");
  for (const key of keys) {
    if (part === undefined) break;
    if (typeof part !== "object" || part === null || Array.isArray(part)) {
      throw new SyntaxError(`${key} has an unexpected form`);
    }
    part = (part as Readonly<Record<string, unknown>>)[key];
  }
  if (isDeepStrictEqual(part, value)) return null;
  const indent = /^[ \t]+(?=")/m.exec(source)?.[0] ?? "  ";
  const formattingOptions = {
    insertSpaces: !indent.startsWith("\t"),
    tabSize: indent.startsWith("\t") ? 1 : indent.length,
    eol: source.includes("\r\n") ? "\r\n" : "\n",
  };
  return applyEdits(source, modify(source, [...keys], value, { formattingOptions }));
}

/**
 * Parses a text; an empty one has no value. @throws SyntaxError if it is not JSON with comments
 * @hostileText Exported for the test that feeds it.
 */
export function readJson(text: string): Readonly<Record<string, unknown>> {
  const errors: ParseError[] = [];
  const value: unknown = text.trim() === "" ? {} : parse(text, errors, { allowTrailingComma: true });
  if (errors.length > 0 || typeof value !== "object" || value === null) throw new SyntaxError("it is not valid JSON");
  return value as Readonly<Record<string, unknown>>;
}

type Entry = Readonly<Record<string, unknown>>;

/** The arguments between Glovebox's command and a wrapped server's own. */
const marker = ["mcp", "wrap"] as const;

/**
 * A client's entry with the server's command wrapped to run in a sandbox; its variables are passed on by name. One that
 * is already wrapped is wrapped again from its original command.
 * @param options of `glovebox mcp wrap`
 * @throws INVALID_REQUEST for an entry without a command
 */
export function wrapEntry(entry: Entry, own: ServerCommand, options: readonly string[]): Entry {
  const bare = isWrapped(entry) ? unwrapEntry(entry) : entry;
  const names = Object.keys(bare["env"] ?? bare["environment"] ?? {});
  const variables = names.flatMap((name) => ["--env", name]);
  const words = [...own.args, ...marker, ...options, ...variables, "--", ...wordsOf(bare)];
  return withWords(bare, [own.command, ...words]);
}

/** The entry as it was before it was wrapped. @throws INVALID_REQUEST if it is not wrapped */
export function unwrapEntry(entry: Entry): Entry {
  if (!isWrapped(entry)) throw unusable("it is not wrapped");
  const words = wordsOf(entry);
  return withWords(entry, words.slice(words.indexOf("--") + 1));
}

function isWrapped(entry: Entry): boolean {
  const words = wordsOf(entry);
  const at = words.findIndex((word, index) => word === marker[0] && words[index + 1] === marker[1]);
  return at > 0 && words.indexOf("--") > at;
}

/** Clients write a command and its arguments, or both as one list. */
function wordsOf({ command, args }: Entry): readonly string[] {
  const more: readonly unknown[] = Array.isArray(args) ? args : [];
  const words: readonly unknown[] = Array.isArray(command) ? command : [command, ...more];
  if (words.length > 0 && words.every((word) => typeof word === "string")) return words;
  throw unusable("it starts no command; servers at a URL run elsewhere");
}

function withWords(entry: Entry, words: readonly string[]): Entry {
  if (Array.isArray(entry["command"])) return { ...entry, command: words };
  const [command, ...args] = words;
  return { ...entry, command, args };
}

function unusable(reason: string): GloveboxError {
  return new GloveboxError("INVALID_REQUEST", `The entry cannot be changed: ${reason}.`, {
    suggestion: "Name a server that the client starts by a command.",
  });
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

function read(text: string): TomlTable {
  try {
    return parseToml(text);
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

function noServer({ title }: McpClient, server: string, known: readonly string[]): GloveboxError {
  const there = known.length === 0 ? "It has none." : `It has ${known.join(", ")}.`;
  return new GloveboxError("INVALID_REQUEST", `${title} has no server ${JSON.stringify(server)} there. ${there}`, {
    suggestion: "Name one of its servers; --project is for those of the project in this folder.",
    context: { server, servers: known },
  });
}

async function planWriting(
  { name, project, place }: ConfigurationRequest,
  entryOf: (
    client: McpClient,
    before: string,
  ) => { readonly keys: readonly string[]; readonly entry: Readonly<Record<string, unknown>> },
): Promise<InstallPlan> {
  const client = clientOf(name);
  const file = project ? client.projectFile?.(place) : client.userFile(place);
  if (file === undefined) {
    throw new GloveboxError("INVALID_REQUEST", `${client.title} has no configuration for one project.`, {
      suggestion: `Leave out --project: glovebox mcp install ${name}.`,
    });
  }
  const before = await textOf(file);
  const merge = client.format === "json" ? mergeJson : mergeToml;
  try {
    const { keys, entry } = entryOf(client, before);
    return { client, file, text: merge(before, keys, entry) };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new GloveboxError("INVALID_REQUEST", `${file} was left as it is: ${error.message}.`, {
      suggestion: `Correct the file, or add the server by hand: glovebox mcp install ${name} --print shows its entry.`,
      cause: error,
    });
  }
}

async function textOf(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw new GloveboxError("INVALID_REQUEST", `${file} cannot be read.`, {
      suggestion: "Make it readable and writable for you.",
      cause: error,
    });
  }
}
