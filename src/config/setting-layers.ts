import type { ConfigSource, LoadedConfig } from "./config.ts";
import * as z from "zod";
import { settingsSchema } from "./settings-schema.ts";
import { nearest } from "../base/nearest.ts";
import {
  environmentTable,
  ignoredPrefixes,
  insteadOf,
  otherVariables,
  secretKeys,
  type EnvironmentRow,
} from "./environment-table.ts";
import type { Environment } from "./host/host.ts";

/** The settings of one source: nested objects as in the file, not checked yet. */
export interface Layer {
  readonly source: Exclude<ConfigSource, "default">;
  readonly content: unknown;
  /** Describes where a key's value was set, such as `environment variable MAX_CONTAINERS`. */
  readonly placeOf: (key: string) => string;
}

/** One key of the file that has a value, as opposed to a section. */
interface SettingsKey {
  /** Dotted path. */
  readonly key: string;
  readonly description: string;
  /** In the units of the file. */
  readonly default: unknown;
}

/** Every key, in the schema's order. */
export const settingsKeys: readonly SettingsKey[] = collect(settingsSchema, "");

/** The value at a dotted path of nested objects, undefined when there is none. */
export function valueAt(object: unknown, key: string): unknown {
  return key.split(".").reduce<unknown>((value, name) => {
    const isSection = typeof value === "object" && value !== null && Object.hasOwn(value, name);
    return isSection ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
  }, object);
}

/** Nested objects from values by dotted path; undefined values are left out. */
export function nest(values: Iterable<readonly [string, unknown]>): Record<string, unknown> {
  const root = emptySection();
  for (const [key, value] of values) {
    if (value === undefined) continue;
    const names = key.split(".");
    const last = names.pop() ?? "";
    let section = root;
    for (const name of names) {
      section = (section[name] ??= emptySection()) as Record<string, unknown>;
    }
    section[last] = value;
  }
  return root;
}

/** The settings in the environment; a variable that is set but empty counts as unset. */
export function environmentLayer(environment: Environment): Layer {
  const values = Object.entries(environmentTable).map(
    ([variable, row]) => [row.key, readForm(environment[variable] ?? "", row)] as const,
  );
  return {
    source: "environment",
    content: nest(values),
    placeOf: (key) => `environment variable ${variableOf(key) ?? key}`,
  };
}

/** What is wrong with the names of variables that have our prefixes, one sentence each. */
export function unknownVariables(environment: Environment): readonly string[] {
  const known = [...Object.keys(environmentTable), ...otherVariables];
  return Object.keys(environment)
    .filter((name) => name.startsWith("GLOVEBOX_") && !known.includes(name))
    .filter((name) => !ignoredPrefixes.some((prefix) => name.startsWith(prefix)))
    .map((name) => {
      const meant = insteadOf.get(name) ?? known.find((other) => name === `GLOVEBOX_${other}`) ?? nearest(name, known);
      return `environment variable ${name} is not known${meant === null ? "" : ` (did you mean ${meant}?)`}`;
    });
}

/** Name of the variable that sets a key. */
export function variableOf(key: string): string | null {
  return Object.entries(environmentTable).find(([, row]) => row.key === key)?.[0] ?? null;
}

/** Values from the command line by key path, as the file would hold them or as text; undefined: not given. */
export type ConfigFlags = Readonly<Record<string, unknown>>;

/** Where on the command line a value was given. */
const onCommandLine = (): string => "command-line flag";

/** Settings from the command line or a program, which says where each was given. */
export function flagLayer(flags: ConfigFlags, placeOf: Layer["placeOf"] = onCommandLine): Layer {
  const rows = Object.values(environmentTable);
  const values = Object.entries(flags).map(([key, value]) => {
    const row = rows.find((candidate) => candidate.key === key);
    return [key, typeof value === "string" && row !== undefined ? (readForm(value, row) ?? value) : value] as const;
  });
  return { source: "flag", content: nest(values), placeOf };
}

/** One key of the configuration, for documents and help. */
interface ConfigKeyDescription {
  /** Dotted path in the file. */
  readonly key: string;
  /** Environment variable that sets it. */
  readonly variable: string | null;
  /** In the units of the file. */
  readonly default: unknown;
  readonly description: string;
}

/** One key with its effective value, for `doctor`. */
interface EffectiveSetting {
  readonly key: string;
  readonly variable: string | null;
  /** Masked when it is secret. */
  readonly value: unknown;
  readonly source: ConfigSource;
}

/** Every key of the configuration, in the order of the file's schema. */
export function describeConfig(): readonly ConfigKeyDescription[] {
  return settingsKeys.map((row) => ({ ...row, variable: variableOf(row.key) }));
}

/** The effective value of every key and where it comes from, with secret values masked. */
export function effectiveSettings(
  loaded: LoadedConfig,
  secrets: readonly string[] = secretKeys,
): readonly EffectiveSetting[] {
  return settingsKeys.map(({ key }) => ({
    key,
    variable: variableOf(key),
    value: secrets.includes(key) ? "(not shown)" : loaded.settings[key],
    source: loaded.sources[key] ?? "default",
  }));
}

function collect(object: z.ZodObject, prefix: string): SettingsKey[] {
  return Object.entries(object.shape).flatMap(([name, schema]) => {
    const key = `${prefix}${name}`;
    if (!(schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault)) {
      throw new TypeError(`Key ${key} of the configuration has no default.`);
    }
    const { innerType, defaultValue } = schema.def;
    if (innerType instanceof z.ZodObject) return collect(innerType, `${key}.`);
    return [{ key, description: schema.description ?? "", default: defaultValue }];
  });
}

/** Without a prototype, so that every name is just a key. */
function emptySection(): Record<string, unknown> {
  return Object.create(null) as Record<string, unknown>;
}

/** A variable's text as the file's value; text that cannot be converted is left for the schema to reject. */
function readForm(text: string, row: Pick<EnvironmentRow, "form">): unknown {
  const trimmed = text.trim();
  if (trimmed === "") return undefined;
  if (row.form === "number") return /^[+-]?\d+(?:\.\d+)?$/.test(trimmed) ? Number(trimmed) : trimmed;
  if (row.form === "list") return trimmed.split(",").map((item) => item.trim());
  if (row.form === "flag") return trimmed === "true" || (trimmed === "false" ? false : trimmed);
  if (row.form === "json") return parseJson(trimmed);
  return trimmed;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
