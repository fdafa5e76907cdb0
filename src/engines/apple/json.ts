/** An answer that does not have the command's form: cut off, or of another version. */
export class AnswerError extends Error {}

export type JsonObject = Readonly<Record<string, unknown>>;

/** The objects of a JSON list. @throws AnswerError for anything else */
export function parseObjects(text: string): readonly JsonObject[] {
  const value = parseJson(text);
  if (!Array.isArray(value) || !value.every(isObject)) throw new AnswerError("a list of objects was expected");
  return value;
}

/** A JSON object. @throws AnswerError for anything else */
export function parseObject(text: string): JsonObject {
  const value = parseJson(text);
  if (!isObject(value)) throw new AnswerError("an object was expected");
  return value;
}

export function objectAt(object: JsonObject, key: string): JsonObject {
  const value = object[key];
  return isObject(value) ? value : {};
}

/** The objects of a list; none where there is no list. */
export function objectsAt(object: JsonObject, key: string): readonly JsonObject[] {
  const value = object[key];
  return Array.isArray(value) ? value.filter(isObject) : [];
}

export function textAt(object: JsonObject, key: string): string | undefined {
  const value = object[key];
  return typeof value === "string" ? value : undefined;
}

/** A count; null where it is missing or not a number. */
export function countAt(object: JsonObject, key: string): number | null {
  const value = object[key];
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : null;
}

/** The texts among the values of an object. */
export function textsIn(object: JsonObject): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(object).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}

/** The command's older dates count from here. */
const referenceDateMs = Date.UTC(2001, 0, 1);

/** A date in milliseconds since the epoch; 0 for anything else. */
export function parseDate(value: unknown): number {
  if (typeof value === "number" && Number.isFinite(value)) return referenceDateMs + value * 1000;
  const time = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? 0 : time;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new AnswerError("JSON was expected", { cause });
  }
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
