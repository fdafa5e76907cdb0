import * as z from "zod";
import { settingsSchema } from "../settings-schema.ts";

/** One key of the file that has a value, as opposed to a section. */
export interface SettingsKey {
  /** Dotted path. */
  readonly key: string;
  readonly description: string;
  /** In the units of the file. */
  readonly default: unknown;
}

/** Every key, in the schema's order. */
export const settingsKeys: readonly SettingsKey[] = collect(settingsSchema, "");

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

/** Without a prototype, so that every name is just a key. */
function emptySection(): Record<string, unknown> {
  return Object.create(null) as Record<string, unknown>;
}
