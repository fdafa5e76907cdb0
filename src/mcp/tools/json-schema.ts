import { z } from "zod";

/** The parts of JSON Schema that contracts use. */
export interface JsonSchema {
  readonly type?: unknown;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: JsonSchema | boolean;
  readonly propertyNames?: JsonSchema;
  maximum?: number;
  minimum?: number;
}

/** A JSON schema of an object, as the protocol requires for tools. */
export type ObjectSchema = JsonSchema & { readonly type: "object" } & Readonly<Record<string, unknown>>;

/** The dialect that zod writes, which the protocol also assumes for schemas that name none. */
const dialect = "https://json-schema.org/draft/2020-12/schema";

/** A schema in JSON; its dialect is named only if it uses parts that differ between dialects. */
export function jsonSchema(schema: z.ZodType, io: "input" | "output"): ObjectSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io });
  const plain = portable(rest) as ObjectSchema;
  return Object.hasOwn(plain, "$defs") ? { $schema: dialect, ...plain } : plain;
}

/** Some clients do not support lists of types; all support alternatives. */
function portable(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(portable);
  if (typeof schema !== "object" || schema === null) return schema;
  const { type, ...rest } = schema as Readonly<Record<string, unknown>>;
  const parts = Object.entries(rest).map(([key, part]) => [key, portable(part)] as const);
  const types = Array.isArray(type)
    ? { anyOf: type.map((each: unknown) => ({ type: each })) }
    : { type: portable(type) };
  return type === undefined ? Object.fromEntries(parts) : { ...types, ...Object.fromEntries(parts) };
}
