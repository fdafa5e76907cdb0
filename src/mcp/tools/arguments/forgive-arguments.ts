import { jsonSchema, type JsonSchema } from "../schemas/json-schema.ts";
import type { OfferedTool } from "../offered-tool.ts";

/** Names that models use for languages. */
const shortLanguages: Readonly<Record<string, string>> = { py: "python", js: "javascript", ts: "typescript" };

/** Fields with a name or a path, for which an empty string means nothing; content may well be empty. */
const namesSomething = /(^|_)(id|path|root|cwd|engine|image|runtime)$/;

type Fields = Readonly<Record<string, unknown>>;

/**
 * The arguments in the contract's form, if what a model wrote can only mean one thing: null and an empty id, enum,
 * number or path for absent, "10" for a number, `py`, `js` and `ts`, one string for a list. Anything else that is wrong is left, to be rejected with its field's name.
 */
export function forgiveArguments({ request }: Pick<OfferedTool, "request">, given: unknown): unknown {
  return isFields(given) ? forgiveFields(jsonSchema(request, "input").properties ?? {}, given) : given;
}

function forgiveFields(properties: Readonly<Record<string, JsonSchema>>, given: Fields): Fields {
  const entries = Object.entries(given).flatMap(([field, value]): [string, unknown][] => {
    const schema = Object.hasOwn(properties, field) ? properties[field] : undefined;
    if (value === null) return [];
    if (schema === undefined) return value === "" && namesSomething.test(field) ? [] : [[field, value]];
    if (value === "" && isAbsentWhenEmpty(field, schema)) return [];
    return [[field, forgiveValue(field, schema, value)]];
  });
  return Object.fromEntries(entries);
}

function isAbsentWhenEmpty(field: string, schema: JsonSchema): boolean {
  return isNumber(schema) || schema.enum !== undefined || (isText(schema) && namesSomething.test(field));
}

function forgiveValue(field: string, schema: JsonSchema, value: unknown): unknown {
  if (isFields(value)) return schema.properties === undefined ? value : forgiveFields(schema.properties, value);
  const list = listOf(schema);
  if (list !== undefined) return forgiveList(field, schema, { items: list, value });
  if (typeof value !== "string") return value;
  if (isNumber(schema) && /^\s*-?\d+(\.\d+)?\s*$/.test(value)) return Number(value);
  if (field === "language" && Object.hasOwn(shortLanguages, value)) return shortLanguages[value];
  return value;
}

function forgiveList(
  field: string,
  schema: JsonSchema,
  { items, value }: { readonly items: JsonSchema; readonly value: unknown },
): unknown {
  if (Array.isArray(value)) {
    return value.map((item: unknown) => (typeof item === "string" ? forgiveItem(field, items, item) : item));
  }
  const isOneOf = schema.anyOf?.some((each) => each.type === "string" && isWord(each, value)) ?? false;
  if (typeof value !== "string" || value === "" || isOneOf) return value;
  return [forgiveItem(field, items, value)];
}

function forgiveItem(field: string, items: JsonSchema, item: string): unknown {
  return isNumber(items) ? forgiveValue(field, items, item) : item;
}

/** Whether a string matches this alternative. */
function isWord({ const: word }: JsonSchema, value: unknown): boolean {
  return word === undefined || word === value;
}

const isNumber = ({ type }: JsonSchema): boolean => type === "number" || type === "integer";
const isText = ({ type }: JsonSchema): boolean => type === "string";

/** The schema of a list's items, if it is or may be a list. */
function listOf({ type, items, anyOf }: JsonSchema): JsonSchema | undefined {
  if (type === "array") return items ?? {};
  return anyOf?.map(listOf).find((each) => each !== undefined);
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
