import { z } from "zod";

/** A part of the document. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The schema of what a client sends, or of what it is answered, as OpenAPI 3.1 has it. */
export function jsonSchema(schema: z.ZodType, io: "input" | "output"): JsonObject {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: "any" });
  return rest;
}

/** The fields of a schema that is an object's, and which of them must be there. */
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
