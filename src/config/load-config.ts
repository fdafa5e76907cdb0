import { join } from "node:path";
import { errorCode, GloveboxError } from "../errors/glovebox-error.ts";
import { configDirectory } from "./host/host-paths.ts";
import { readHost, type Environment, type Host } from "./host/host.ts";
import { jsonErrorPosition } from "./json-error-position.ts";
import {
  settingsKeys,
  valueAt,
  nest,
  environmentLayer,
  unknownVariables,
  flagLayer,
  type Layer,
  type ConfigFlags,
} from "./setting-layers.ts";
import { limitFieldNames, limitKinds } from "../policy/limits.ts";
import { engineTable } from "../engines/engine-table.ts";
import type * as z from "zod";
import { nearest } from "../base/nearest.ts";
import { insteadOf, secretKeys } from "./environment-table.ts";
import { readOnce, settingsSchema, parseSettings } from "./settings-schema.ts";
import { agentVariables } from "../policy/known-agents.ts";
import { readUpstreamProxy, variablesWithPasswords } from "../policy/network/upstream-proxy.ts";
import { checkEnvironment } from "../policy/request/environment-variables.ts";
import type { ConfigSource, LoadedConfig, Config } from "./config.ts";
import { readFile } from "node:fs/promises";

/** Where to look for the configuration file, and how to read it. */
export interface FileOptions {
  readonly environment: Environment;
  /** Path given on the command line or by a program. */
  readonly file?: string | undefined;
  /** Where that path was given, for errors; default: `--config`. */
  readonly fileGivenBy?: string | undefined;
  readonly homeDirectory: string;
  /** Reads a file as text; rejects with a `code` like Node's, `ENOENT` if it does not exist. */
  readonly readFile: (path: string) => Promise<string>;
}

/** A file that was read. */
interface FileLayer extends Layer {
  readonly path: string;
}

/**
 * The configuration file: the given one, else the one of `GLOVEBOX_CONFIG`, else the default one, which may be missing.
 * Messages say where the file was named and show no path.
 * @throws INVALID_REQUEST when a named file is missing, or one cannot be read or is not JSON (with line and column)
 */
export async function readFileLayer(options: FileOptions): Promise<FileLayer | null> {
  const { path, name, required } = place(options);
  let text: string;
  try {
    text = await options.readFile(path);
  } catch (cause) {
    const code = errorCode(cause) || "unknown reason";
    if (!required && (code === "ENOENT" || code === "ENOTDIR")) return null;
    const problem = code === "ENOENT" ? "does not exist" : `cannot be read (${code})`;
    throw new GloveboxError("INVALID_REQUEST", `The ${name} ${problem}.`, {
      suggestion: "Correct the path or the file's permissions, or leave it out.",
      cause,
    });
  }
  return { source: "file", content: parse(text.replace(/^\ufeff/, ""), name), placeOf: () => name, path };
}

/** One configured limit, and what bounds it, both in the same unit. */
interface BoundedKey {
  readonly key: string;
  readonly ceilingKey: string;
  /** How many of the key's units make one of the ceiling's. */
  readonly factor: number;
}

const boundedKeys: readonly BoundedKey[] = limitKinds.flatMap((kind) =>
  limitFieldNames.map((field) =>
    kind === "agent" && field === "timeout_seconds"
      ? { key: "container_timeout_ms", ceilingKey: `ceilings.${field}`, factor: 1000 }
      : { key: `limits.${kind}.${field}`, ceilingKey: `ceilings.${field}`, factor: 1 },
  ),
);

/** The settings, with defaults lowered to their ceilings, and what is wrong with limits that were set explicitly. */
interface BoundedSettings {
  readonly settings: ReadonlyMap<string, unknown>;
  readonly problems: readonly string[];
}

/** Variables that engines and their tools read for themselves. */
const engineVariables: readonly string[] = [
  ...new Set(engineTable.flatMap(({ variables = [] }) => variables)),
  "XDG_RUNTIME_DIR",
  "HOME",
  "USERPROFILE",
  "TMPDIR",
  "TEMP",
  "TMP",
  "SystemRoot",
  "PATH",
];

export interface LoadConfigOptions extends FileOptions {
  readonly flags?: ConfigFlags | undefined;
  /** Describes where a flag gave the value of a key; default: on the command line. */
  readonly placeOfFlag?: Layer["placeOf"] | undefined;
}

/**
 * The configuration of this process: flags, else environment, else file, else defaults, for each key (SPEC CF1). It
 * does not include the settings of single calls.
 * @throws INVALID_REQUEST naming every unknown key and bad value, where it was set and what was expected
 */
export async function loadConfig(options: LoadConfigOptions): Promise<LoadedConfig> {
  const { environment, flags = {}, placeOfFlag } = options;
  const fileLayer = await readFileLayer(options);
  const layers: readonly Layer[] = [
    flagLayer(flags, placeOfFlag),
    environmentLayer(environment),
    ...(fileLayer === null ? [] : [fileLayer]),
  ];
  refuse([...unknownVariables(environment), ...layers.flatMap(layerProblems)]);

  const layerOf = new Map(
    settingsKeys.map(({ key }) => [key, layers.find(({ content }) => valueAt(content, key) !== undefined)]),
  );
  const given = new Map(
    settingsKeys.map((row) => [row.key, valueAt(layerOf.get(row.key)?.content, row.key) ?? row.default]),
  );
  const { settings, problems } = boundByCeilings(given, (key) => layerOf.get(key)?.placeOf(key) ?? null);
  refuse(problems);

  const values = parseSettings(nest(settings));
  const hostEnvironment = pickVariables(environment, values.environmentAllowlist);
  refuse(
    variablesWithPasswords(hostEnvironment).map(
      (name) =>
        `environment_allowlist: ${name} contains a proxy's user or password, which sandboxes must not get; they do not need the variable, because Glovebox itself uses that proxy`,
    ),
  );
  return deepFreeze({
    values: {
      ...values,
      hostEnvironment: checkEnvironment(hostEnvironment, "environment_allowlist"),
      agentEnvironment: checkEnvironment(
        pickVariables(environment, [...agentVariables.map(({ name }) => name), ...values.agents.variables]),
        "agents.variables",
      ),
      upstreamProxy: readUpstreamProxy(environment, values.network.upstreamResolves),
      explicitSettings: [...layerOf].flatMap(([key, layer]) => (layer === undefined ? [] : [key])),
      engineEnvironment: pickVariables(environment, engineVariables),
    },
    sources: Object.fromEntries(
      [...layerOf].map(([key, layer]): [string, ConfigSource] => [key, layer?.source ?? "default"]),
    ),
    settings: Object.fromEntries(settings),
    file: fileLayer?.path ?? null,
  });
}

/** What a caller sets itself; overrides the environment and the file. */
export interface ConfigOverrides {
  /** Keys and values as in the configuration file (docs/configuration.md). */
  readonly settings?: Settings | undefined;
  /** Path of the configuration file; default: `GLOVEBOX_CONFIG`, else the user's own. */
  readonly configFile?: string | undefined;
  /** Where `configFile` was given, for errors; default: `--config`. */
  readonly configFileGivenBy?: string | undefined;
  /** Where the value of a key was given in `settings`, for errors; default: on the command line. */
  readonly placeOfSetting?: ((key: string) => string) | undefined;
}

/** The configuration for this machine and process. */
interface HostConfig {
  readonly config: Config;
  readonly host: Host;
  /** The same configuration with where each value comes from. */
  readonly loaded: LoadedConfig;
}

/** @throws INVALID_REQUEST naming every bad key and value */
export async function loadHostConfig(overrides: ConfigOverrides): Promise<HostConfig> {
  const host = readHost();
  const loaded = await loadConfig({
    environment: host.environment,
    homeDirectory: host.homeDirectory,
    file: overrides.configFile,
    fileGivenBy: overrides.configFileGivenBy,
    readFile: (path) => readFile(path, "utf8"),
    flags: settingsOverrides(overrides.settings ?? {}),
    placeOfFlag: overrides.placeOfSetting,
  });
  return { config: loaded.values, host, loaded };
}

/** Nested values, by the names of the configuration file. */
export interface Settings {
  readonly [name: string]:
    | string
    | number
    | boolean
    | null
    | readonly string[]
    | readonly Settings[]
    | Settings
    | undefined;
}

/** Nested settings as dotted paths, the form in which the loader takes overrides; undefined ones are left out. */
export function settingsOverrides(settings: Settings, prefix = ""): ConfigFlags {
  return Object.fromEntries(
    Object.entries(settings).flatMap(([name, value]): [string, unknown][] => {
      if (value === undefined) return [];
      if (isSection(value)) return Object.entries(settingsOverrides(value, `${prefix}${name}.`));
      return [[`${prefix}${name}`, value]];
    }),
  );
}

function isSection(value: Settings[string]): value is Settings {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * Compares the limits with the ceilings: a default is lowered to a lower ceiling, a limit that was set is not.
 *
 * `placeOf` says where a key was set; null: it has its default.
 */
function boundByCeilings(
  settings: ReadonlyMap<string, unknown>,
  placeOf: (key: string) => string | null,
): BoundedSettings {
  const bounded = new Map(settings);
  const problems: string[] = [];
  for (const { key, ceilingKey, factor } of boundedKeys) {
    const value = Number(settings.get(key));
    const ceiling = Number(settings.get(ceilingKey)) * factor;
    if (value <= ceiling) continue;
    const place = placeOf(key);
    if (place === null) bounded.set(key, ceiling);
    else problems.push(`${key} (${place}): expected at most ${ceiling}, the ceiling of ${ceilingKey}, got ${value}`);
  }
  return { settings: bounded, problems };
}

/** Those of the named variables that the host has. */
function pickVariables(environment: Environment, names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = Object.hasOwn(environment, name) ? environment[name] : undefined;
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
}

/** What is wrong with the keys and values of one source, one sentence each, without duplicates. */
function layerProblems(layer: Layer): readonly string[] {
  const { error } = settingsSchema.safeParse(layer.content, readOnce);
  if (error === undefined) return [];
  const problems = error.issues.flatMap((issue) => {
    const path = issue.path.map(String);
    if (issue.code !== "unrecognized_keys") return [badValue(path.join("."), issue, layer)];
    return issue.keys.map((name) => unknownKey([...path, name].join("."), layer));
  });
  return [...new Set(problems)];
}

function unknownKey(key: string, layer: Layer): string {
  const keys = settingsKeys.map((row) => row.key);
  const meant = insteadOf.get(key) ?? nearest(key, [...keys, ...sections(keys)]);
  return `${key} (${layer.placeOf(key)}): unknown key${meant === null ? "" : ` (did you mean ${meant}?)`}`;
}

/** The key paths of sections, such as `limits.execute`. */
function sections(keys: readonly string[]): readonly string[] {
  const parents = keys.flatMap((key) => {
    const names = key.split(".").slice(0, -1);
    return names.map((_, index) => names.slice(0, index + 1).join("."));
  });
  return [...new Set(parents)];
}

function badValue(path: string, issue: z.core.$ZodIssue, layer: Layer): string {
  if (path === "") return `${layer.placeOf("")}: expected ${issue.message}`;
  const key = settingsKeys.find((row) => path === row.key || path.startsWith(`${row.key}.`))?.key ?? path;
  // A list is shown whole; of an object, only the field in question.
  const place = /[^.\d]/.test(path.slice(key.length)) ? path : key;
  const received = secretKeys.includes(key) ? "a value that is not shown" : shown(valueAt(layer.content, place));
  return `${place} (${layer.placeOf(key)}): expected ${issue.message}, got ${received}`;
}

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? String(value)).slice(0, 80);
}

function refuse(problems: readonly string[]): void {
  if (problems.length === 0) return;
  const message =
    problems.length === 1
      ? `Configuration: ${problems[0]}.`
      : `Configuration: ${problems.length} problems.\n${problems.map((problem) => `- ${problem}.`).join("\n")}`;
  throw new GloveboxError("INVALID_REQUEST", message, {
    suggestion: "Correct these keys and start again; docs/configuration.md lists them all.",
    context: { problems },
  });
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const part of Object.values(value)) deepFreeze(part);
  }
  return value;
}

function place(options: FileOptions): { readonly path: string; readonly name: string; readonly required: boolean } {
  const { environment, file, fileGivenBy = "--config", homeDirectory } = options;
  if (file !== undefined) return { path: file, name: `configuration file given by ${fileGivenBy}`, required: true };
  const named = environment["GLOVEBOX_CONFIG"] ?? "";
  if (named !== "") return { path: named, name: "configuration file given by GLOVEBOX_CONFIG", required: true };
  const path = join(configDirectory(environment, homeDirectory), "config.json");
  return { path, name: "default configuration file", required: false };
}

function parse(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // JSON.parse's own message quotes the file, which may contain secrets.
    const { line, column } = jsonErrorPosition(text) ?? { line: 1, column: 1 };
    throw new GloveboxError("INVALID_REQUEST", `The ${name} is not JSON: error at line ${line}, column ${column}.`, {
      suggestion: "Correct the file there; JSON allows no comments and no comma after the last entry.",
      context: { line, column },
    });
  }
}
