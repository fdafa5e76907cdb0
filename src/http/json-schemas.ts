import { z } from "zod";

/** A part of the document. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The schema of a request or a response, as in OpenAPI 3.1. */
export function jsonSchema(schema: z.ZodType, io: "input" | "output"): JsonObject {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: "any" });
  return rest;
}

/** The fields of an object's schema, and which of them are required. */
export function fieldsOf(schema: z.ZodObject): {
  readonly fields: Readonly<Record<string, JsonObject>>;
  readonly required: ReadonlySet<string>;
} {
  const { properties = {}, required = [] } = jsonSchema(schema, "input") as {
    readonly properties?: Record<string, JsonObject>;
    readonly required?: readonly string[];
  };
  return { fields: properties, required: new Set(required) };
}
