import { errorCatalogue, type ErrorType } from "../errors/catalogue.ts";
import { wireErrorSchema, wireEventSchema } from "../operations/contract/wire-messages.ts";
import { acceptedSchema } from "../operations/sandboxes-contract.ts";
import { jsonSchema, type JsonObject } from "./json-schemas.ts";

export const schemaRef = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` });
export const json = (schema: JsonObject): JsonObject => ({ "application/json": { schema } });

/** Refusals of HTTP itself, in addition to the error types. */
const httpStatuses: Readonly<Record<number, string>> = {
  401: "No token, or an unknown one.",
  405: "The path has no such method.",
  408: "The request did not arrive in time, or the program took too long.",
  411: "Of a file: its content has neither a length nor chunks.",
  413: "The body is too large.",
  415: "The body is not JSON, or is compressed.",
  416: "Of a file: it has no such range of bytes.",
  431: "The headers are too large.",
};

/** Every error status, with the error types that have it. */
export function errorResponses(): Readonly<Record<string, JsonObject>> {
  const types = new Map<number, ErrorType[]>();
  for (const [type, { httpStatus }] of Object.entries(errorCatalogue)) {
    types.set(httpStatus, [...(types.get(httpStatus) ?? []), type as ErrorType]);
  }
  const statuses = [...new Set([...types.keys(), ...Object.keys(httpStatuses).map(Number)])].toSorted((a, b) => a - b);
  return Object.fromEntries(
    statuses.map((status) => [
      String(status),
      {
        description: [types.get(status)?.join(", ") ?? [], httpStatuses[status] ?? []].flat().join(": "),
        ...(status === 429 ? { headers: { "Retry-After": retryAfter } } : {}),
        ...(status === 401 ? { headers: { "WWW-Authenticate": { schema: { type: "string" } } } } : {}),
        content: json(schemaRef("Error")),
      },
    ]),
  );
}

const retryAfter = { description: "Seconds after which to try again.", schema: { type: "integer", minimum: 1 } };

/** Schemas that several answers share. */
export const sharedSchemas = (): Readonly<Record<string, JsonObject>> => ({
  Error: { ...jsonSchema(wireErrorSchema, "output"), description: "What every failed request is answered with." },
  Event: { ...jsonSchema(wireEventSchema, "output"), description: "What a streamed run tells, one at a time." },
  Accepted: { ...jsonSchema(acceptedSchema, "output"), description: "Where to ask for a run that goes on." },
});

/** Headers that requests with effects may have. */
export const sharedParameters: Readonly<Record<string, JsonObject>> = {
  Prefer: {
    name: "Prefer",
    in: "header",
    description: "`respond-async`: answer 202 at once, with the path at which to ask for the result.",
    schema: { type: "string" },
    example: "respond-async",
  },
  IdempotencyKey: {
    name: "Idempotency-Key",
    in: "header",
    description:
      "A name of your own for this request: sent again with the same name within 24 hours it is not done again, and gets the same answer.",
    schema: { type: "string", minLength: 1, maxLength: 255, pattern: "^[!-~]+$" },
  },
};
