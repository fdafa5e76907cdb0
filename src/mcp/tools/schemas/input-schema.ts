import { z } from "zod";
import { isListed, limitsWords, wordsOf } from "./field-words.ts";
import type { OfferedTool } from "../offered-tool.ts";
import { jsonSchema, type JsonSchema, type ObjectSchema } from "./json-schema.ts";
import type { ToolDeployment } from "./tool-deployment.ts";

/** Arguments of a call that queries a running one. */
export const followUpSchema: z.ZodObject<{ run_id: z.ZodString; cancel: z.ZodOptional<z.ZodBoolean> }> = z.strictObject(
  {
    run_id: z.string().describe("Alone: waits for the rest of a running call."),
    cancel: z.boolean().optional().describe("With run_id: ends it."),
  },
);

/**
 * The arguments of a tool, kept short as they cost tokens in every conversation. A tool that may take long also takes
 * `run_id`, alone, so none of its arguments is marked as required: schemas with alternatives at their root are refused
 * by models' APIs.
 */
export function inputSchemaOf({ name, request, tool }: OfferedTool, deployment?: ToolDeployment): ObjectSchema {
  const { required = [], properties = {}, ...rest } = jsonSchema(request, "input");
  const listed = Object.entries(properties)
    .filter(([field]) => isListed(name, field, deployment))
    .map(([field, schema]) => {
      const isRequired = required.includes(field) && tool.mayTakeLong;
      return [field, describe(shorter(schema), { name, field, deployment, isRequired, properties })] as const;
    });
  if (!tool.mayTakeLong) {
    return { ...rest, ...(required.length === 0 ? {} : { required }), properties: Object.fromEntries(listed) };
  }
  const followUp = jsonSchema(followUpSchema, "input");
  return { ...rest, properties: { ...Object.fromEntries(listed), ...followUp.properties } };
}

interface Place {
  readonly name: string;
  readonly field: string;
  readonly deployment: ToolDeployment | undefined;
  readonly isRequired: boolean;
  /** Of the tool. */
  readonly properties: object;
}

function describe(schema: JsonSchema, { name, field, deployment, isRequired, properties }: Place): JsonSchema {
  if (field === "secrets")
    return { type: "array", items: { type: "string" }, description: wordsOf(name, field, deployment) ?? "" };
  if (field === "limits") return limitsSchema(schema, name, { deployment, properties });
  const own = wordsOf(name, field, deployment) ?? schema.description ?? "";
  const told = isRequired && !own.startsWith("Required.") ? `Required. ${own}`.trimEnd() : own;
  const { description: _, ...rest } = schema;
  return told === "" ? rest : { ...rest, description: told };
}

/**
 * The fields of limits, with their defaults and ceilings in one sentence; the time limit is a separate field if the
 * tool has it.
 */
function limitsSchema(
  { type, properties: fields = {} }: JsonSchema,
  tool: string,
  { deployment, properties }: Pick<Place, "deployment" | "properties">,
): JsonSchema {
  const names = Object.keys(fields).filter(
    (field) => field !== "timeout_seconds" || !Object.hasOwn(properties, "timeout_seconds"),
  );
  const description = limitsWords(tool, names, deployment);
  return {
    type,
    ...(description === undefined ? {} : { description }),
    properties: Object.fromEntries(names.map((name) => [name, { type: "number" }] as const)),
  };
}

const checkedOnly = ["minLength", "maxLength", "minItems", "maxItems", "maxProperties", "pattern", "format"] as const;

/** Without what only validation needs: the front end checks every argument against the full schema. */
function shorter(schema: JsonSchema): JsonSchema {
  const { description, anyOf, items, properties, additionalProperties, propertyNames: _, ...rest } = schema;
  for (const bound of checkedOnly) delete (rest as Record<string, unknown>)[bound];
  for (const bound of ["maximum", "minimum"] as const) {
    if (Math.abs(rest[bound] ?? 0) === Number.MAX_SAFE_INTEGER) delete rest[bound];
  }
  const inside = (part: JsonSchema): JsonSchema => {
    const { description: __, required: ___, ...short } = shorter(part);
    return short;
  };
  return {
    ...rest,
    ...(description === undefined ? {} : { description }),
    ...(anyOf === undefined ? {} : { anyOf: anyOf.map(inside) }),
    ...(items === undefined ? {} : { items: inside(items) }),
    ...(properties === undefined
      ? {}
      : { properties: Object.fromEntries(Object.entries(properties).map(([name, part]) => [name, inside(part)])) }),
    ...(typeof additionalProperties === "object" ? { additionalProperties: inside(additionalProperties) } : {}),
  };
}
