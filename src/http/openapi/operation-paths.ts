import { inputType, takesInput } from "../../operations/contract/input-body.ts";
import { takesBody, type OperationContract, type Route } from "../../operations/contract/operation-contract.ts";
import { fieldsOf, jsonSchema, type JsonObject } from "./json-schemas.ts";
import { json, schemaRef } from "./shared-parts.ts";

/** The entry of one route of an operation. */
export function operationEntry(contract: OperationContract, { method, path }: Route, errors: JsonObject): JsonObject {
  const inPath = namesIn(path);
  const hasBody = takesBody({ method });
  const { fields, required } = fieldsOf(contract.request);
  // Fields that are only in the path of the operation's other routes name another kind of place.
  const elsewhere = new Set(contract.routes.flatMap((route) => namesIn(route.path)));
  const rest = Object.keys(fields).filter((name) => !inPath.includes(name) && !elsewhere.has(name));
  const field = (name: string, place: "path" | "query"): JsonObject => {
    const { description, ...schema } = fields[name] ?? {};
    return {
      ...{ name, in: place, required: place === "path" || required.has(name) },
      ...(description === undefined ? {} : { description }),
      schema: place === "path" ? { minLength: 1, ...schema } : schema,
    };
  };
  const mayTakeLong = method === "POST" && contract.tool?.mayTakeLong === true;
  const [summary = contract.description] = contract.description.split(/(?<=\.) /, 1);
  return {
    operationId: operationIdOf(contract, path),
    summary,
    description: contract.description,
    tags: [tagOf(path)],
    parameters: [
      ...inPath.map((name) => field(name, "path")),
      ...(hasBody ? [] : rest.map((name) => field(name, "query"))),
      ...(method === "POST" ? [{ $ref: "#/components/parameters/IdempotencyKey" }] : []),
      ...(mayTakeLong ? [{ $ref: "#/components/parameters/Prefer" }] : []),
    ],
    ...(hasBody ? { requestBody: { required: rest.some((name) => required.has(name)), content: bodyOf() } } : {}),
    responses: { "200": answerOf(contract, mayTakeLong), ...(mayTakeLong ? { "202": accepted } : {}), ...errors },
  };

  function bodyOf(): JsonObject {
    const properties = Object.fromEntries(rest.map((name) => [name, fields[name]]));
    const needed = rest.filter((name) => required.has(name));
    const whole = json({ type: "object", properties, required: needed, additionalProperties: false });
    if (method !== "POST" || !takesInput(contract)) return whole;
    const description = "The same as one line of JSON, a line feed, and then standard input as it comes, of any size.";
    return { ...whole, [inputType]: { schema: { type: "string", format: "binary", description } } };
  }
}

/** The fields that a path names. */
export function namesIn(path: string): readonly string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
}

/** The section of a route: the first segment of its path. */
export function tagOf(path: string): string {
  return path.split("/")[2] ?? "server";
}

const places = { session_id: "session", env_id: "environment", sandbox_id: "sandbox" } as const;

/**
 * The operation's name, where it has one path. Else it says what of: `list_files_in_session`, and
 * `list_processes_in_session_by_process_id` where another path has the same.
 */
function operationIdOf({ name, routes, bytes }: OperationContract, path: string): string {
  const paths = [...routes.map((route) => route.path), ...(bytes?.paths ?? [])];
  if (paths.length === 1) return name;
  const rest = namesIn(path).filter((field) => paths.some((other) => !namesIn(other).includes(field)));
  const words = rest.map((field) => (field in places ? `in_${places[field as keyof typeof places]}` : `by_${field}`));
  return [name, ...words].join("_");
}

function answerOf({ response }: OperationContract, mayTakeLong: boolean): JsonObject {
  const whole = json(jsonSchema(response, "output"));
  if (!mayTakeLong) return { description: "Done.", content: whole };
  return {
    description: "Done; or, where that is asked for, its events as they happen.",
    headers: { "Glovebox-Run-Id": { description: "Id of the run.", schema: { type: "string" } } },
    content: {
      ...whole,
      "text/event-stream": {
        schema: { type: "string", description: "Server-sent events; the data of each is an Event." },
      },
      "application/x-ndjson": { schema: schemaRef("Event") },
    },
  };
}

const accepted = {
  description: "It goes on: ask for it at `status_url`.",
  headers: { Location: { description: "The same path.", schema: { type: "string" } } },
  content: json(schemaRef("Accepted")),
};
