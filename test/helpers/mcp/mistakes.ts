import { exampleOf } from "../../../src/mcp/tools/call-tool.ts";
import type { OfferedTool } from "../../../src/mcp/tools/tool-profiles.ts";
import { jsonSchema, type JsonSchema } from "../../../src/mcp/tools/json-schema.ts";

/** A call with a mistake of the kind that models make. */
export interface Mistake {
  /** Such as `limits.cpus`. */
  readonly field: string;
  readonly kind: string;
  readonly request: Record<string, unknown>;
}

/** Values of each JSON type; none of them can be taken for a value of another type. */
const valuesOfType: Readonly<Record<string, readonly (readonly [kind: string, value: unknown])[]>> = {
  string: [
    ["a text", "some words"],
    ["a number's beginning", "10 seconds"],
  ],
  number: [["a number", 7]],
  boolean: [["a boolean", true]],
  object: [["an object", { unheard: { of: 1 } }]],
  array: [["a list", [{ unheard: 1 }]]],
};

/** 5 MB. */
const flood = "x".repeat(5_000_000);

/** Calls of a tool with one wrong field each, for every field that it has. */
export function mistakesOf(offered: OfferedTool, right: object = exampleOf(offered)): readonly Mistake[] {
  const { properties = {}, required = [] } = jsonSchema(offered.request, "input");
  const base = right as Record<string, unknown>;
  const fields = Object.entries(properties).flatMap(([field, schema]) => [
    { path: [field], schema },
    ...Object.entries(schema.properties ?? {}).map(([inner, part]) => ({ path: [field, inner], schema: part })),
  ]);
  const named = fields.flatMap(({ path, schema }) =>
    wrongValues(schema).map(([kind, value]) => ({
      field: path.join("."),
      kind,
      request: withValue(base, path, value),
    })),
  );
  const absent = required.flatMap((field) => {
    const { [field]: _, ...rest } = base;
    return [
      { field, kind: "absent", request: rest },
      { field, kind: "null", request: { ...rest, [field]: null } },
    ];
  });
  const unknown = { field: "unheard_of", kind: "unknown", request: { ...base, unheard_of: 1 } };
  const longName = { field: "x".repeat(60), kind: "5 MB of a name", request: { ...base, [flood]: 1 } };
  const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`unheard_${index}`, index] as const));
  const names = { field: "unheard_0", kind: "100,000 unknown ones", request: { ...base, ...many } };
  return [...named, ...absent, unknown, longName, names];
}

/** 5 MB in each field that takes a text, or a list or a record of texts. */
export function floodsOf(offered: OfferedTool, right: object): readonly Mistake[] {
  const { properties = {} } = jsonSchema(offered.request, "input");
  return Object.entries(properties).flatMap(([field, schema]) => {
    const types = typesOf(schema);
    const value = types.has("string") ? flood : types.has("array") ? [flood] : { [flood]: flood };
    return [{ field, kind: "5 MB", request: { ...right, [field]: value } }];
  });
}

function wrongValues(schema: JsonSchema): readonly (readonly [string, unknown])[] {
  const types = typesOf(schema);
  const choices = choicesOf(schema);
  return Object.entries(valuesOfType).flatMap(([type, values]) => {
    if (type === "string" && (choices.length > 0 || (!types.has("string") && !types.has("array")))) return values;
    return types.has(type) || (type === "string" && types.has("array")) ? [] : values;
  });
}

function typesOf({ type, anyOf = [], enum: choices, const: only }: JsonSchema): ReadonlySet<string> {
  const own = choices !== undefined || only !== undefined ? "string" : type === "integer" ? "number" : type;
  return new Set([...(typeof own === "string" ? [own] : []), ...anyOf.flatMap((each) => [...typesOf(each)])]);
}

/** The only texts that are allowed; empty if any text is. */
function choicesOf({ enum: choices = [] }: JsonSchema): readonly unknown[] {
  return choices;
}

function withValue(
  base: Record<string, unknown>,
  [field = "", inner]: readonly string[],
  value: unknown,
): Record<string, unknown> {
  return { ...base, [field]: inner === undefined ? value : { [inner]: value } };
}
