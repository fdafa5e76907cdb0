import { jsonSchema, type JsonSchema } from "../schemas/json-schema.ts";
import type { OfferedTool } from "../offered-tool.ts";

/** What models write for languages. */
const shortLanguages: Readonly<Record<string, string>> = { py: "python", js: "javascript", ts: "typescript" };

/** Fields that hold a name or a place, for which an empty string says nothing; content may well be empty. */
const namesSomething = /(^|_)(id|path|root|cwd|engine|image|runtime)$/;

/** Lists of words that a shell line stands for as well. */
const commandFields: ReadonlySet<string> = new Set(["command", "setup_commands", "install_commands"]);

type Fields = Readonly<Record<string, unknown>>;

/**
 * The arguments as the contract wants them, where what a model wrote can mean one thing only: null and an empty id, enum,
 * number or path for absent, "10" for a number, `py`, `js` and `ts`, one string for a list, a string for a command as a
 * shell line. Whatever else is wrong stays, to be refused by its field.
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
  return field === "command" ? shellLine(value) : [forgiveItem(field, items, value)];
}

function forgiveItem(field: string, items: JsonSchema, item: string): unknown {
  if (items.type === "array" && commandFields.has(field)) return shellLine(item);
  return isNumber(items) ? forgiveValue(field, items, item) : item;
}

/** Whether a string is what this alternative stands for. */
function isWord({ const: word }: JsonSchema, value: unknown): boolean {
  return word === undefined || word === value;
}

const shellLine = (line: string): readonly string[] => ["sh", "-c", line];

const isNumber = ({ type }: JsonSchema): boolean => type === "number" || type === "integer";
const isText = ({ type }: JsonSchema): boolean => type === "string";

/** What the items of a list are, where it is one or may be one. */
function listOf({ type, items, anyOf }: JsonSchema): JsonSchema | undefined {
  if (type === "array") return items ?? {};
  return anyOf?.map(listOf).find((each) => each !== undefined);
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
