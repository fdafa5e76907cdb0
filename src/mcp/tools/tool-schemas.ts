import { z } from "zod";
import type { OfferedTool } from "./offered-tool.ts";

/** Arguments of a call that asks again for one that goes on. */
export const followUpSchema: z.ZodObject<{ run_id: z.ZodString; cancel: z.ZodOptional<z.ZodBoolean> }> = z.strictObject(
  {
    run_id: z
      .string()
      .describe(
        'The run_id of an earlier answer whose status was "running": waits for the rest. No other argument but cancel.',
      ),
    cancel: z.boolean().optional().describe("With run_id: ends that work."),
  },
);

const errorForm = z.object({
  error: z
    .object({
      error_type: z.string(),
      message: z.string(),
      suggestion: z.string().describe("What can be done about it."),
      context: z.record(z.string(), z.unknown()),
    })
    .describe("The platform failed or refused; isError is true."),
});

const runningForm = z.object({
  status: z.literal("running").describe("It goes on: ask again with run_id."),
  run_id: z.string(),
  elapsed_seconds: z.number(),
  sandbox_id: z.string().optional(),
  progress: z.string().optional().describe("What it said last of its progress."),
  stdout_tail: z.string().describe("The newest output so far, at most 4096 bytes."),
  stderr_tail: z.string(),
});

const shortened = z
  .array(
    z.object({
      field: z.string(),
      unit: z.enum(["characters", "items"]),
      kept: z.number(),
      total: z.number(),
      resource: z.string().nullable().describe("URI of the whole; null when it was too long to be kept."),
    }),
  )
  .optional()
  .describe("Fields whose middle or end was left out.");

/** The dialect that zod writes and the protocol expects. */
const dialect = "https://json-schema.org/draft/2020-12/schema";

/** A JSON schema whose value is an object, as the protocol demands of tools. */
export type ObjectSchema = { readonly type: "object" } & Readonly<Record<string, unknown>>;

/**
 * The arguments of a tool. A tool that may take long also takes `run_id`, alone, so none of its arguments is marked as
 * required: schemas with alternatives at their root are refused by models' APIs.
 */
export function inputSchemaOf({ request, tool }: OfferedTool): ObjectSchema {
  const schema: ObjectSchema = { $schema: dialect, ...jsonSchema(request, "input") };
  if (!tool.mayTakeLong) return schema;
  const { required, properties, ...rest } = schema as ObjectSchema & {
    readonly required?: readonly string[];
    readonly properties?: object;
  };
  const followUp = jsonSchema(followUpSchema, "input") as ObjectSchema & { readonly properties: object };
  return { ...rest, properties: { ...markRequired(properties ?? {}, required ?? []), ...followUp.properties } };
}

/** The structured answer of a tool: the operation's response, or an error, or that it goes on. */
export function outputSchemaOf({ response: answer, tool }: OfferedTool): ObjectSchema {
  const { properties, ...response } = jsonSchema(answer, "output") as ObjectSchema & {
    readonly properties?: object;
  };
  const { shortened: field } = (
    jsonSchema(z.object({ shortened }), "output") as unknown as { properties: { shortened: object } }
  ).properties;
  const forms = [
    { ...response, properties: { ...properties, shortened: field } },
    jsonSchema(errorForm, "output"),
    ...(tool.mayTakeLong ? [jsonSchema(runningForm, "output")] : []),
  ];
  return { $schema: dialect, type: "object", anyOf: forms };
}

function markRequired(properties: object, required: readonly string[]): object {
  return Object.fromEntries(
    Object.entries(properties as Readonly<Record<string, { readonly description?: string }>>).map(
      ([name, property]) => [
        name,
        required.includes(name)
          ? { ...property, description: `Required, unless run_id is given. ${property.description ?? ""}`.trimEnd() }
          : property,
      ],
    ),
  );
}

/** A part of a schema, without the name of its dialect. */
function jsonSchema(schema: z.ZodType, io: "input" | "output"): ObjectSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io });
  return portable(rest) as ObjectSchema;
}

/** Several types in one list are more than some clients' dialects know; alternatives are understood by all. */
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
