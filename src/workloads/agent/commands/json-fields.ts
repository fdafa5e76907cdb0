/** An object of JSON as it came: nothing about it is known. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** What stands at the end of a path of keys; undefined where the path breaks. */
function valueAt(value: unknown, path: readonly string[]): unknown {
  let place = value;
  for (const key of path) {
    if (typeof place !== "object" || place === null || !Object.hasOwn(place, key)) return undefined;
    place = (place as JsonObject)[key];
  }
  return place;
}

/** The text at a path; null where there is none. */
export function textAt(value: unknown, ...path: readonly string[]): string | null {
  const found = valueAt(value, path);
  return typeof found === "string" ? found : null;
}

/** The number at a path; 0 where there is none that counts something. */
export function countAt(value: unknown, ...path: readonly string[]): number {
  const found = valueAt(value, path);
  return typeof found === "number" && Number.isFinite(found) && found >= 0 ? found : 0;
}

/** The objects of the list at a path; empty where there is none. */
export function objectsAt(value: unknown, ...path: readonly string[]): readonly JsonObject[] {
  const found = valueAt(value, path);
  return Array.isArray(found) ? found.filter(isObject) : [];
}

/** The object at a path; an empty one where there is none. */
export function objectAt(value: unknown, ...path: readonly string[]): JsonObject {
  const found = valueAt(value, path);
  return isObject(found) ? found : {};
}

/** The object that a line of JSON is; null for anything else. */
export function parseJsonObject(line: string): JsonObject | null {
  if (!line.trimStart().startsWith("{")) return null;
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
