/** An unvalidated JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The value at a path of keys; undefined if the path does not exist. */
function valueAt(value: unknown, path: readonly string[]): unknown {
  let place = value;
  for (const key of path) {
    if (typeof place !== "object" || place === null || !Object.hasOwn(place, key)) return undefined;
    place = (place as JsonObject)[key];
  }
  return place;
}

/** The text at a path; null if there is none. */
export function textAt(value: unknown, ...path: readonly string[]): string | null {
  const found = valueAt(value, path);
  return typeof found === "string" ? found : null;
}

/** The number at a path; 0 if there is none that can be a count. */
export function countAt(value: unknown, ...path: readonly string[]): number {
  const found = valueAt(value, path);
  return typeof found === "number" && Number.isFinite(found) && found >= 0 ? found : 0;
}

/** The objects in the list at a path; empty if there is none. */
export function objectsAt(value: unknown, ...path: readonly string[]): readonly JsonObject[] {
  const found = valueAt(value, path);
  return Array.isArray(found) ? found.filter(isObject) : [];
}

/** The object at a path; an empty one if there is none. */
export function objectAt(value: unknown, ...path: readonly string[]): JsonObject {
  const found = valueAt(value, path);
  return isObject(found) ? found : {};
}

/** The object in a line of JSON; null for anything else. */
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
