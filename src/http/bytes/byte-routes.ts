import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { invalidField } from "../../errors/glovebox-error.ts";
import type { OperationContract } from "../../operations/contract/operation-contract.ts";
import { parseRequest } from "../../operations/contract/parse-request.ts";
import { assembleRequest, fieldTypes, type RequestParts } from "../routes/read-request.ts";
import type { RouteContext } from "../routes/route-context.ts";
import { readRange } from "./byte-range.ts";
import { receiveBytes } from "./receive-bytes.ts";
import { sendBytes } from "./send-bytes.ts";

/** The routes of content as bytes; a download that shares its path with an answer in JSON is offered there (`bytesAt`). */
export function addByteRoutes(app: FastifyInstance, context: RouteContext): void {
  const taken = new Set(context.operations.flatMap(({ routes }) => routes.map(keyOf)));
  for (const contract of context.operations) {
    const { direction, paths = [] } = contract.bytes ?? {};
    if (contract.audience !== "everyone") continue;
    for (const path of paths) {
      if (direction === "up") addUpload(app, context, contract, path);
      else if (!taken.has(keyOf({ method: "GET", path }))) {
        app.get(path.replaceAll(/\{(\w+)\}/g, ":$1"), (request, reply) =>
          download(context, contract, { request, reply }),
        );
      }
    }
  }
}

/** The operation that sends the content of what is at a path; undefined: none. */
export function bytesAt(
  { operations }: Pick<RouteContext, "operations">,
  route: { readonly method: string; readonly path: string },
): OperationContract | undefined {
  return operations.find(
    ({ bytes }) => route.method === "GET" && bytes?.direction === "down" && bytes.paths.includes(route.path),
  );
}

function addUpload(app: FastifyInstance, context: RouteContext, contract: OperationContract, path: string): void {
  // A scope of its own: here alone, bodies are not read as JSON.
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser("*", (_, __, done) => done(null));
    scope.put(path.replaceAll(/\{(\w+)\}/g, ":$1"), (request, reply) =>
      receiveBytes(context, { contract, read: () => readPath(contract, request) }, { request, reply }),
    );
  });
}

/** Answers with the content of what is at a path, or the part of it that `Range` or the query names. */
export function download(
  context: RouteContext,
  contract: OperationContract,
  http: { readonly request: FastifyRequest; readonly reply: FastifyReply },
): Promise<FastifyReply> {
  const { params, query, headers } = http.request;
  const parts = { path: params as RequestParts["path"], query: query as RequestParts["query"], body: undefined };
  const form = { takesBody: false, types: fieldTypes(contract) };
  const request = parseRequest(contract, assembleRequest(parts, form));
  return sendBytes(context, { contract, request, part: readRange(headers) }, http);
}

/** Everything is in the path: the body is the content. @throws INVALID_REQUEST naming the field */
function readPath(contract: OperationContract, { params, query }: FastifyRequest): Record<string, unknown> {
  const [stray] = Object.keys(query as object);
  if (stray !== undefined) throw invalidField(stray, "nothing in the query", Reflect.get(query as object, stray));
  const parts = { path: params as RequestParts["path"], query: {}, body: {} };
  return parseRequest(contract, assembleRequest(parts, { takesBody: true, types: new Map() }));
}

function keyOf({ method, path }: { readonly method: string; readonly path: string }): string {
  return `${method} ${path}`;
}
