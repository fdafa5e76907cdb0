import type * as z from "zod";
import { nearest } from "../../base/nearest.ts";
import { insteadOf } from "./environment-table.ts";
import type { Layer } from "./layer.ts";
import { secretKeys } from "../secret-keys.ts";
import { settingsKeys, valueAt } from "./settings-keys.ts";
import { readOnce, settingsSchema } from "../settings-schema.ts";

/** What is wrong with the keys and values of one source, one sentence each, without duplicates. */
export function layerProblems(layer: Layer): readonly string[] {
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
