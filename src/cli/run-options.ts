import { languageNamed, languageNames, languageTable, type LanguageName } from "../languages/language-table.ts";
import type { Language } from "../languages/language.ts";
import path from "node:path";
import { parseBytes } from "../base/bytes.ts";
import { parseDuration } from "../base/duration.ts";
import { invalidField } from "../errors/glovebox-error.ts";
import type { ExecuteRequest } from "../operations/execute-contract.ts";
import type { Command } from "commander";
import { wordsAsShellLine } from "../base/shell-words.ts";

/** Options of `glovebox run` as the parser leaves them. */
export interface RunOptions {
  /** The other options about a project require it. */
  readonly project?: string;
  readonly readOnly?: boolean;
  readonly setup?: string;
  readonly name?: string;
  readonly quiet?: boolean;
  readonly engine?: string;
  readonly language?: string;
  readonly runtime?: string;
  readonly code?: string;
  readonly timeout?: string;
  readonly memory?: string;
  readonly cpus?: string;
  readonly pids?: string;
  readonly disk?: string;
  readonly env: readonly string[];
  readonly secret: readonly string[];
  readonly file: readonly string[];
  readonly artifact: readonly string[];
  readonly output?: string;
  readonly image?: string;
  readonly network?: string;
  readonly packages?: string;
  readonly ociRuntime?: string;
  readonly minIsolation?: string;
  readonly json?: boolean;
}

const mebibyte = 1024 * 1024;

/**
 * The execute request that the options ask for; values are checked by the operation, only their spelling here.
 * @throws INVALID_REQUEST naming the option
 */
export function requestOfOptions(
  options: RunOptions,
  source: { readonly code: string; readonly file: string | null; readonly args: readonly string[] },
): Record<string, unknown> {
  const request: Partial<Record<keyof ExecuteRequest, unknown>> = {
    language:
      options.language === undefined ? languageOfProgram(source.file, source.code) : languageOfOption(options.language),
    code: source.code,
    filename: source.file === null ? undefined : path.basename(source.file),
    context_files: options.file.length > 0 ? options.file : undefined,
    environment: options.env.length > 0 ? Object.fromEntries(options.env.map(parseVariable)) : undefined,
    secrets: options.secret.length > 0 ? secretsOf(options.secret) : undefined,
    args: source.args.length > 0 ? source.args : undefined,
    artifacts: artifactsOf(options),
    limits: limitsOfOptions(options),
    runtime: options.runtime,
    name: options.name,
    engine: options.engine,
    image: options.image,
    network: parseNetworkOption(options.network),
    packages: parsePackages(options.packages ?? "auto"),
    oci_runtime: options.ociRuntime,
    min_isolation: options.minIsolation,
  };
  return definedOnly(request);
}

/** The limits that options name. @throws INVALID_REQUEST naming the option */
export function limitsOfOptions(
  options: Pick<RunOptions, "cpus" | "memory" | "timeout" | "pids" | "disk">,
): Record<string, unknown> {
  return definedOnly({
    cpus: parseNumber(options.cpus, "--cpus"),
    memory_mb: options.memory === undefined ? undefined : parseBytes(options.memory, "--memory") / mebibyte,
    timeout_seconds: options.timeout === undefined ? undefined : parseDuration(options.timeout, "--timeout") / 1000,
    pids: parseNumber(options.pids, "--pids"),
    disk_mb: options.disk === undefined ? undefined : parseBytes(options.disk, "--disk") / mebibyte,
  });
}

/** @throws INVALID_REQUEST */
export function parseVariable(text: string): [string, string] {
  const separator = text.indexOf("=");
  if (separator <= 0) throw invalidField("--env", "NAME=VALUE", text.split("=", 1)[0]);
  return [text.slice(0, separator), text.slice(separator + 1)];
}

/** Names of secrets by variable. @throws INVALID_REQUEST for a variable that is named twice */
export function secretsOf(options: readonly string[]): Record<string, string> {
  const pairs = options.map((text) => {
    const [name = "", variable = name] = text.split("=");
    return [variable, name] as const;
  });
  const variables = pairs.map(([variable]) => variable);
  const twice = variables.find((variable, index) => variables.indexOf(variable) !== index);
  if (twice !== undefined) throw invalidField("--secret", "each variable once", "one twice");
  return Object.fromEntries(pairs);
}

/** A policy by its name, else a comma-separated list; the operation knows which policies there are. */
export function parseNetworkOption(text: string | undefined): string | readonly string[] | undefined {
  if (text === undefined || /^(?:none|registries|open|)$/.test(text)) return text;
  return text.split(",").map((domain) => domain.trim());
}

/** A comma within a package's versions or extras, as in `requests[socks]>=2,<3`, does not separate. */
export function splitPackages(text: string): readonly string[] {
  return text.split(/,(?=\s*[@A-Za-z0-9])(?![^[]*\])/).map((spec) => spec.trim());
}

/** Only the fields that have a value. */
export function definedOnly(record: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));
}

/** The wire's name for the value of `--language`; the operation rejects unknown ones. */
export function languageOfOption(text: string): string {
  return languageNamed(text) ?? text;
}

/**
 * Language of a program: by its file extension, else by its first line (`#!/usr/bin/env python3`), else Python if the
 * program is not a file.
 * @param file null: the program is not a file
 * @throws INVALID_REQUEST for a file whose language neither shows
 */
export function languageOfProgram(file: string | null, code: string): LanguageName {
  const ending = path.extname(file ?? "").toLowerCase();
  const row = languageTable.find(({ endings }) => endings.includes(ending)) ?? languageOfShebang(code);
  const found = row === undefined && file === null ? "python" : (row?.name as LanguageName | undefined);
  if (found !== undefined) return found;
  throw invalidField(
    "--language",
    `one of ${languageNames.join(", ")}, because neither the file extension (${languageTable.flatMap(({ endings }) => endings).join(" ")}) nor a first line such as #!/usr/bin/env python3 says which`,
    file,
  );
}

/** A project's folder and what runs in it, as `[path] -- [command...]` gives them. */
export interface PathAndCommand {
  readonly path: string | undefined;
  readonly command: readonly string[];
}

/**
 * Operands of a command that takes an optional folder before `--` and a command after it. The parser counts operands
 * only, so that the first word after `--` becomes the folder if none came before.
 */
export function pathAndCommand(program: Command, path: string | undefined, command: readonly string[]): PathAndCommand {
  if (path === undefined || !beginsBehindDashes(program, 1 + command.length)) return { path, command };
  return { path: undefined, command: [path, ...command] };
}

/** A single argument is a shell line already; several are a program and its arguments, taken literally. */
export function toShellLine(command: readonly string[]): string {
  return command.length === 1 ? (command[0] ?? "") : wordsAsShellLine(command);
}

/** Without globs, `--output` saves everything the program created. */
function artifactsOf({ artifact, output }: RunOptions): readonly string[] | undefined {
  if (artifact.length > 0) return artifact;
  return output === undefined ? undefined : ["**"];
}

/** `auto` and `none` are also npm packages: `auto@latest` means the package. */
function parsePackages(text: string): readonly string[] | "auto" {
  if (text === "none") return [];
  return text === "auto" ? text : splitPackages(text);
}

function parseNumber(text: string | undefined, option: string): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (text.trim() === "" || Number.isNaN(value)) throw invalidField(option, "a number", text);
  return value;
}

function languageOfShebang(code: string): Language | undefined {
  const words = /^#!([^\r\n]+)/.exec(code)?.[1]?.trim().split(/\s+/) ?? [];
  const [first = "", ...rest] = words.map((word) => word.split("/").at(-1) ?? "");
  // `env`'s own options and variables come before the interpreter.
  const name = first === "env" ? rest.find((word) => !/^-|=/.test(word)) : first;
  return languageTable.find(({ shebang }) => shebang.test(name ?? ""));
}

/** Whether all operands come after `--`. */
function beginsBehindDashes(program: Command, operands: number): boolean {
  // What was typed; commander keeps it, but its types leave it out.
  const { rawArgs = [] } = program as unknown as { readonly rawArgs?: readonly string[] };
  const dashes = rawArgs.indexOf("--");
  return dashes !== -1 && rawArgs.length - dashes - 1 === operands;
}
