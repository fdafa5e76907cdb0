import { isAtLeast } from "../parser/version.ts";

/** What can be printed; `undefined` is left out. */
export type Json = string | number | boolean | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: Json | undefined;
}

/** Text as Foundation writes it: with the slash escaped. */
const quoted = (text: string): string => JSON.stringify(text).replaceAll("/", String.raw`\/`);

/** Sorted by code units, as Foundation sorts keys. */
function entriesOf(object: JsonObject): readonly (readonly [string, Json])[] {
  const there = Object.entries(object).filter((entry): entry is [string, Json] => entry[1] !== undefined);
  return there.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
}

const isArray = (value: Json): value is readonly Json[] => Array.isArray(value);

function write(value: Json, indent: string | null): string {
  if (typeof value === "string") return quoted(value);
  if (typeof value !== "object") return String(value);
  const inner = indent === null ? null : `${indent}  `;
  const colon = indent === null ? ":" : " : ";
  const parts = isArray(value)
    ? value.map((each) => write(each, inner))
    : entriesOf(value).map(([name, each]) => `${quoted(name)}${colon}${write(each, inner)}`);
  const [open, close] = isArray(value) ? ["[", "]"] : ["{", "}"];
  if (inner === null) return `${open}${parts.join(",")}${close}`;
  if (parts.length === 0) return `${open}\n\n${indent}${close}`;
  return `${open}\n${inner}${parts.join(`,\n${inner}`)}\n${indent}${close}`;
}

/** One line, sorted, as `--format json` prints it. */
export function oneLine(value: Json): string {
  return write(value, null);
}

/** Indented and sorted, as `inspect` prints it. */
export function indented(value: Json): string {
  return isArray(value) && value.length === 0 ? "[\n\n]" : write(value, "");
}

/** Seconds between 1970 and 2001, from which versions before 1.0.0 count. */
const referenceDate = 978_307_200;

/** A time as the version's JSON has it: ISO 8601 without fractions; before 1.0.0, seconds since 2001. */
export function dateOf(version: string, milliseconds: number): string | number {
  if (!isAtLeast(version, "1.0.0")) return milliseconds / 1000 - referenceDate;
  return `${new Date(milliseconds).toISOString().slice(0, 19)}Z`;
}
