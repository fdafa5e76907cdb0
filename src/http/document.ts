import { z } from "zod";
import { errorCatalogue, type ErrorType } from "../errors/catalogue.ts";
import { wireErrorSchema, wireEventSchema } from "../operations/contract/wire-messages.ts";
import {
  acceptedSchema,
  listOwnSandboxesRequestSchema,
  ownSandboxesSchema,
  removedSandboxSchema,
  removeSandboxQuerySchema,
  sandboxStateSchema,
} from "../operations/sandboxes-contract.ts";
import {
  takesBody,
  inputType,
  takesInput,
  type OperationContract,
  type Route,
} from "../operations/contract/operation-contract.ts";
import { bytesType } from "./answer-form.ts";

/** A part of the document. */
type JsonObject = Readonly<Record<string, unknown>>;

const schemaRef = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` });
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

const retryAfter = { description: "Seconds after which to try again.", schema: { type: "integer", minimum: 1 } };

/** Schemas that several answers share. */
const sharedSchemas = (): Readonly<Record<string, JsonObject>> => ({
  Error: { ...jsonSchema(wireErrorSchema, "output"), description: "What every failed request is answered with." },
  Event: { ...jsonSchema(wireEventSchema, "output"), description: "What a streamed run tells, one at a time." },
  Accepted: { ...jsonSchema(acceptedSchema, "output"), description: "Where to ask for a run that goes on." },
});

/** Headers that requests with effects may have. */
const sharedParameters: Readonly<Record<string, JsonObject>> = {
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

const content = { [bytesType]: { schema: { type: "string", format: "binary" } } };

const range = {
  name: "Range",
  in: "header",
  description: "One range of bytes: bytes=FIRST-LAST, bytes=FIRST- or bytes=-LENGTH.",
  schema: { type: "string" },
};

const parts: JsonObject = {
  "206": {
    description: "The part that Range names.",
    headers: { "Content-Range": { description: "The part, and the size of the whole.", schema: { type: "string" } } },
    content,
  },
};

/** Paths by their methods, as an OpenAPI document has them. */
export type ApiPaths = Readonly<Record<string, Readonly<Record<string, JsonObject>>>>;

interface ApiDocumentOptions {
  /** Version of Glovebox. */
  readonly version: string;
  readonly operations: readonly OperationContract[];
  /** Paths in addition to those of operations; their errors are added. */
  readonly extraPaths?: ApiPaths | undefined;
}

const tags: Readonly<Record<string, string>> = {
  sandbox: "Programs in sandboxes of their own, and everything that runs.",
  sessions: "Places whose files last from run to run.",
  environments: "Containers with a project, for commands.",
  server: "The server itself.",
};

/** The server's OpenAPI 3.1 document, generated from the contracts. */
export function apiDocument({ version, operations, extraPaths = {} }: ApiDocumentOptions): JsonObject {
  const errors = errorResponses();
  const paths: Record<string, Record<string, JsonObject>> = {};
  const add = (path: string, method: string, entry: JsonObject): void => {
    (paths[path] ??= {})[method.toLowerCase()] = entry;
  };
  for (const contract of operations) {
    if (contract.audience !== "everyone") continue;
    for (const route of contract.routes) add(route.path, route.method, operationEntry(contract, route, errors));
  }
  for (const contract of operations) {
    const { direction, paths: own = [] } = contract.bytes ?? {};
    for (const path of contract.audience === "everyone" ? own : []) {
      const shared = direction === "down" ? paths[path]?.["get"] : undefined;
      const method = direction === "up" ? "put" : "get";
      add(path, method, shared === undefined ? byteEntry(contract, path, errors) : withBytes(shared));
    }
  }
  for (const [path, methods] of Object.entries({ ...sandboxPaths(), ...serverPaths, ...extraPaths })) {
    for (const [method, entry] of Object.entries(methods)) {
      const responses = { ...errors, ...(entry["responses"] as JsonObject) };
      add(path, method, { tags: [path.startsWith("/api/") ? tagOf(path) : "server"], ...entry, responses });
    }
  }
  const used = new Set(Object.keys(paths).map((path) => (path.startsWith("/api/") ? tagOf(path) : "server")));
  return {
    openapi: "3.1.0",
    info: {
      title: "Glovebox",
      version,
      description: "Runs untrusted code in sealed sandboxes. See docs/http.md.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
      contact: { name: "The operator of this server" },
    },
    servers: [{ url: "/" }],
    security: [{ token: [] }],
    tags: [...used].map((name) => ({ name, description: tags[name] ?? `Everything at /api/${name}.` })),
    paths,
    components: {
      securitySchemes: {
        token: { type: "http", scheme: "bearer", description: "An API key, or the user's own token." },
      },
      parameters: sharedParameters,
      schemas: sharedSchemas(),
    },
  };
}

const open = { security: [] } as const;
const plainObject = json({ type: "object" });

const serverPaths: ApiPaths = {
  "/healthz": {
    get: {
      ...open,
      operationId: "healthz",
      summary: "Whether the server lives.",
      description: "It answers.",
      responses: { "200": { description: "It does.", content: plainObject } },
    },
  },
  "/readyz": {
    get: {
      ...open,
      operationId: "readyz",
      summary: "Whether the server takes work.",
      description: "Its engine and what else it needs answer, and it is not ending.",
      responses: {
        "200": { description: "It does.", content: plainObject },
        "503": { description: "It does not.", content: plainObject },
      },
    },
  },
};

const places = { session_id: "session", env_id: "environment", sandbox_id: "sandbox" } as const;

const accepted = {
  description: "It goes on: ask for it at `status_url`.",
  headers: { Location: { description: "The same path.", schema: { type: "string" } } },
  content: json(schemaRef("Accepted")),
};

interface Entry {
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly (JsonObject & { readonly name?: string; readonly in?: string })[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: JsonObject }>> };
  readonly responses: Readonly<Record<string, { readonly description: string }>>;
}

/** The document as a single readable page without other files. */
export function documentationPage(document: JsonObject): string {
  const { info, paths } = document as {
    readonly info: { readonly title: string; readonly version: string; readonly description: string };
    readonly paths: Readonly<Record<string, Readonly<Record<string, Entry>>>>;
  };
  const entries = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, entry]) => section(`${method.toUpperCase()} ${path}`, entry)),
  );
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escape(info.title)}</title><style>${style}</style>
<h1>${escape(info.title)} ${escape(info.version)}</h1><p>${escape(info.description)}</p>
<p>The same for programs: <a href="/openapi.json">/openapi.json</a></p>
${entries.join("\n")}</html>`;
}

const style =
  "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}" +
  "code,summary{font-family:ui-monospace,monospace}summary{cursor:pointer;padding:.3rem 0}td{vertical-align:top;padding:.2rem .6rem .2rem 0}";

function section(title: string, { summary, description, parameters = [], requestBody, responses }: Entry): string {
  const { properties = {}, required = [] } = (requestBody?.content["application/json"]?.schema ?? {}) as {
    readonly properties?: Readonly<Record<string, JsonObject>>;
    readonly required?: readonly string[];
  };
  const rows = [
    ...parameters.filter(({ name }) => name !== undefined).map((each) => row(`${each.name}`, `${each.in}`, each)),
    ...Object.entries(properties).map(([name, field]) => row(name, required.includes(name) ? "required" : "", field)),
  ];
  const answers = Object.entries(responses).filter(([status]) => Number(status) < 400);
  const told = answers.map(([status, answer]) => `<p><b>${status}</b> ${escape(answer.description)}</p>`);
  return `<details><summary><b>${escape(title)}</b> ${escape(summary)}</summary><p>${escape(description)}</p><table>${rows.join("")}</table>${told.join("")}</details>`;
}

function row(name: string, kind: string, { description }: JsonObject): string {
  const words = typeof description === "string" ? description : "";
  return `<tr><td><code>${escape(name)}</code><td>${escape(kind)}<td>${escape(words)}</tr>`;
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

/** The schema of a request or a response, as in OpenAPI 3.1. */
function jsonSchema(schema: z.ZodType, io: "input" | "output"): JsonObject {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: "any" });
  return rest;
}

/** The fields of an object's schema, and which of them are required. */
function fieldsOf(schema: z.ZodObject): {
  readonly fields: Readonly<Record<string, JsonObject>>;
  readonly required: ReadonlySet<string>;
} {
  const { properties = {}, required = [] } = jsonSchema(schema, "input") as {
    readonly properties?: Record<string, JsonObject>;
    readonly required?: readonly string[];
  };
  return { fields: properties, required: new Set(required) };
}

/** Every error status, with the error types that have it. */
function errorResponses(): Readonly<Record<string, JsonObject>> {
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

/** The entry of one path at which an operation takes or sends content as bytes. */
function byteEntry(contract: OperationContract, path: string, errors: JsonObject): JsonObject {
  const isUpload = contract.bytes?.direction === "up";
  const { parameters, ...entry } = operationEntry(contract, { method: isUpload ? "PUT" : "GET", path }, errors) as {
    readonly parameters: readonly { readonly name: string; readonly in: string }[];
  };
  const elsewhere = new Set(
    (contract.bytes?.paths ?? []).flatMap(namesIn).filter((name) => !namesIn(path).includes(name)),
  );
  const own = parameters.filter(({ name }) => !elsewhere.has(name));
  if (!isUpload) {
    return withParts({ ...entry, parameters: own, responses: { ...errors, "200": { description: "Done.", content } } });
  }
  return {
    ...entry,
    parameters: own.filter((parameter) => parameter.in === "path"),
    requestBody: { required: true, content },
    responses: { ...errors, "200": { description: "Done.", content: json(jsonSchema(contract.response, "output")) } },
  };
}

/** An answer in JSON that is offered as bytes too, at the same path. */
function withBytes(entry: JsonObject): JsonObject {
  const { responses, description } = entry as {
    readonly responses: Readonly<Record<string, { readonly content?: JsonObject }>>;
    readonly description: string;
  };
  const whole = responses["200"];
  return {
    ...withParts({
      ...entry,
      responses: { ...responses, "200": { ...whole, content: { ...whole?.content, ...content } } },
    }),
    description: `${description} With Accept: ${bytesType} as it is, of any size.`,
  };
}

function withParts(entry: JsonObject): JsonObject {
  const { parameters = [], responses = {} } = entry as {
    readonly parameters?: readonly unknown[];
    readonly responses?: object;
  };
  return { ...entry, parameters: [...parameters, range], responses: { ...responses, ...parts } };
}

function sandboxPaths(): ApiPaths {
  const id = {
    name: "id",
    in: "path",
    required: true,
    description: "Id of a sandbox or a run.",
    schema: { type: "string", minLength: 1 },
  };
  const ofQuery = (request: Parameters<typeof fieldsOf>[0]): readonly JsonObject[] =>
    Object.entries(fieldsOf(request).fields).map(([name, { description, ...schema }]) => {
      return { name, in: "query", description, schema };
    });
  const answered = (schema: Parameters<typeof jsonSchema>[0]): JsonObject => ({
    "200": { description: "Done.", content: json(jsonSchema(schema, "output")) },
  });
  return {
    "/api/sandbox": {
      get: {
        operationId: "list_own_sandboxes",
        summary: "What runs now, or has ended.",
        description:
          "Your runs at work, and the sandboxes that your sessions and environments live in; or your ended runs as the server's store has them.",
        parameters: ofQuery(listOwnSandboxesRequestSchema),
        responses: answered(ownSandboxesSchema),
      },
    },
    "/api/sandbox/{id}": {
      get: {
        operationId: "get_sandbox",
        summary: "The state of a run or sandbox, or its result.",
        description:
          "Whole results are kept for 15 minutes after the end, within bounds; the server's store has how a run ended for longer.",
        parameters: [id],
        responses: answered(sandboxStateSchema),
      },
      delete: {
        operationId: "remove_sandbox",
        summary: "Ends and removes a run or sandbox.",
        description: "What runs in it is ended; its result is forgotten, unless `forget` is false.",
        parameters: [id, ...ofQuery(removeSandboxQuerySchema)],
        responses: answered(removedSandboxSchema),
      },
    },
  };
}

/** The entry of one route of an operation. */
function operationEntry(contract: OperationContract, { method, path }: Route, errors: JsonObject): JsonObject {
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
function namesIn(path: string): readonly string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
}

/** The section of a route: the first segment of its path. */
function tagOf(path: string): string {
  return path.split("/")[2] ?? "server";
}

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
