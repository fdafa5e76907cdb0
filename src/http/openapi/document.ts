import type { OperationContract } from "../../operations/contract/operation-contract.ts";
import {
  listOwnSandboxesRequestSchema,
  ownSandboxesSchema,
  removedSandboxSchema,
  removeSandboxQuerySchema,
  sandboxStateSchema,
} from "../../operations/sandboxes/sandbox-state-schema.ts";
import { fieldsOf, jsonSchema, type JsonObject } from "./json-schemas.ts";
import { byteEntry, withBytes } from "./byte-paths.ts";
import { operationEntry, tagOf } from "./operation-paths.ts";
import { errorResponses, json, sharedParameters, sharedSchemas } from "./shared-parts.ts";

/** Paths by their methods, as an OpenAPI document has them. */
export type ApiPaths = Readonly<Record<string, Readonly<Record<string, JsonObject>>>>;

export interface ApiDocumentOptions {
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
