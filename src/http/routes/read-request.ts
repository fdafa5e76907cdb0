import { z } from "zod";
import { invalidField } from "../../errors/glovebox-error.ts";
import type { OperationContract } from "../../operations/contract/operation-contract.ts";

/** The parts of an HTTP request. */
export interface RequestParts {
  /** From the path, decoded. */
  readonly path: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string | readonly string[]>>;
  /** Undefined for none. */
  readonly body: unknown;
}

/** Types that a field may have, as named in its JSON schema. */
export type FieldTypes = ReadonlyMap<string, ReadonlySet<string>>;

/** The types of each field, to convert those that come as text. */
export function fieldTypes({ request }: Pick<OperationContract, "request">): FieldTypes {
  const { properties = {} } = z.toJSONSchema(request, { io: "input" });
  return new Map(Object.entries(properties).map(([name, schema]) => [name, new Set(typesOf(schema))]));
}

/**
 * Combines the parts into one request, checking only the form: if a body is expected it must be an object, and no field
 * may come twice.
 * @throws INVALID_REQUEST naming the field
 */
export function assembleRequest(
  { path, query, body }: RequestParts,
  { takesBody, types }: { readonly takesBody: boolean; readonly types: FieldTypes },
): Record<string, unknown> {
  const fields = takesBody ? ofBody(body) : ofQuery(query, types);
  const stray = takesBody ? Object.keys(query)[0] : undefined;
  if (stray !== undefined) throw invalidField(stray, "it in the body, not in the query", query[stray]);
  if (!takesBody && body !== undefined) throw invalidField("body", "none", body);
  for (const [name, value] of Object.entries(path)) {
    if (Object.hasOwn(fields, name)) throw invalidField(name, "it in the path only", fields[name]);
    if (value === "") throw invalidField(name, "a value", value);
  }
  return { ...fields, ...path };
}

function ofBody(body: unknown): Record<string, unknown> {
  if (body === undefined) return {};
  if (typeof body !== "object" || body === null || Array.isArray(body)) throw invalidField("body", "an object", body);
  return { ...body };
}

function ofQuery(query: RequestParts["query"], types: FieldTypes): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(query).map(([name, value]) => [name, readText(name, value, types.get(name) ?? new Set())]),
  );
}

function readText(name: string, value: string | readonly string[], types: ReadonlySet<string>): unknown {
  if (types.has("array")) return typeof value === "string" ? [value] : value;
  if (typeof value !== "string") throw invalidField(name, "it once", value);
  if (types.has("number") || types.has("integer")) {
    if (!/^-?\d{1,16}(\.\d{1,15})?$/.test(value)) throw invalidField(name, "a number", value);
    return Number(value);
  }
  if (!types.has("boolean")) return value;
  if (value !== "true" && value !== "false") throw invalidField(name, "true or false", value);
  return value === "true";
}

function typesOf(schema: unknown): string[] {
  if (typeof schema !== "object" || schema === null) return [];
  const { type, anyOf = [] } = schema as { readonly type?: string | string[]; readonly anyOf?: readonly unknown[] };
  return [...[type ?? []].flat(), ...anyOf.flatMap(typesOf)];
}
