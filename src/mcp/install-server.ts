import { chmod, copyFile, mkdir, readFile, realpath, rename, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { nearest } from "../base/nearest.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import type { ClientPlace, McpClient, ServerCommand } from "./client.ts";
import { mcpClients } from "./clients.ts";
import { mergeToml, readToml } from "./merge-toml.ts";
import { isDeepStrictEqual } from "node:util";
import { applyEdits, modify, parse, type ParseError } from "jsonc-parser";

/** A planned installation; nothing is written yet. */
export interface InstallPlan {
  readonly client: McpClient;
  readonly file: string;
  /** The complete new text of the file; null if nothing has to change. */
  readonly text: string | null;
}

export interface InstallRequest extends ConfigurationRequest {
  readonly command: ServerCommand;
}

/** Which configuration to change. */
export interface ConfigurationRequest {
  /** Name of a client. */
  readonly name: string;
  /** For the project instead of the user. */
  readonly project: boolean;
  readonly place: ClientPlace;
}

/** How to change one server's entry there. */
export interface EntryChange extends ConfigurationRequest {
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
