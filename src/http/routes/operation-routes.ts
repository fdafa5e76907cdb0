import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from "fastify";
import {
  takesBody,
  takesInput,
  type OperationContract,
  type RequestOf,
  type Route,
} from "../../operations/contract/operation-contract.ts";
import { parseRequest } from "../../operations/contract/parse-request.ts";
import { readLogsContract } from "../../operations/logs-contract.ts";
import { keyEnded, orRevoked } from "../or-revoked.ts";
import { callerOf } from "../caller.ts";
import { acceptsBytes } from "../accepts-bytes.ts";
import { bytesAt, download } from "../byte-routes.ts";
import { followLogs } from "../follow-logs.ts";
import { answerRun } from "../runs/answer-run.ts";
import { maxContentBodyBytes } from "../server/json-body.ts";
import { answerWithInput } from "../server/request-input.ts";
import { sendAnswer } from "../server/send-answer.ts";
import { untilClosed } from "../server/until-closed.ts";
import { answerOf } from "../server/wire-answer.ts";
import { assembleRequest, fieldTypes, type RequestParts } from "./read-request.ts";
import type { RouteContext } from "./route-context.ts";

type LogsRequest = RequestOf<typeof readLogsContract>;

/** The routes of all operations that are open to every principal. */
export function addOperationRoutes(app: FastifyInstance, context: RouteContext): void {
  for (const contract of context.operations) {
    if (contract.audience === "everyone") for (const route of contract.routes) addRoute(app, context, contract, route);
  }
}

function addRoute(app: FastifyInstance, context: RouteContext, contract: OperationContract, route: Route): void {
  const { method, path } = route;
  const form = { takesBody: takesBody(route), types: fieldTypes(contract) };
  const read = (request: FastifyRequest): Record<string, unknown> =>
    parseRequest(contract, assembleRequest(partsOf(request), form));
  const answer = method === "POST" ? answerRun : answerCall;
  const asBytes = bytesAt(context, route);
  app.route({
    method,
    url: path.replaceAll(/\{(\w+)\}/g, ":$1"),
    ...(contract.carriesContent === true ? { bodyLimit: maxContentBodyBytes } : {}),
    config: { takesInput: method === "POST" && takesInput(contract) },
    handler: (request, reply) =>
      asBytes !== undefined && acceptsBytes(request.headers)
        ? download(context, asBytes, { request, reply })
        : answerWithInput({ request, reply }, async () =>
            answer(context, { contract, request: read(request) }, { request, reply }),
          ),
    ...(contract.name === readLogsContract.name ? followed(context, read) : {}),
  });
}

/** The same route as a WebSocket, which stays open as the log grows; errors are answered before it opens. */
function followed(
  context: RouteContext,
  read: (request: FastifyRequest) => Record<string, unknown>,
): Pick<RouteOptions, "preValidation" | "wsHandler"> {
  const readFollowed = (request: FastifyRequest): LogsRequest => {
    const { ticket: _, ...query } = request.query as Record<string, unknown>;
    const { params, body } = request;
    return read({ params, body, query } as FastifyRequest) as LogsRequest;
  };
  return {
    preValidation: async (request) => {
      if (!request.ws) return;
      const { principal, within } = callerOf(request);
      const first = { ...readFollowed(request), limit: 1, wait_seconds: 0 };
      await context.platform.call(readLogsContract, first, { principal, within });
    },
    wsHandler: (socket, request) =>
      followLogs(context, readFollowed(request), {
        socket,
        connection: request.raw.socket,
        caller: callerOf(request),
      }),
  };
}

/** Runs operations that only read or can be repeated: they end when their client disconnects. */
async function answerCall(
  { platform, assertTakesWork }: RouteContext,
  { contract, request }: { readonly contract: OperationContract; readonly request: Record<string, unknown> },
  http: { readonly request: FastifyRequest; readonly reply: FastifyReply },
): Promise<FastifyReply> {
  if (http.request.method === "PUT" || http.request.method === "PATCH") assertTakesWork();
  const caller = callerOf(http.request);
  const signal = AbortSignal.any([
    untilClosed(http.reply.raw),
    ...(caller.revoked === undefined ? [] : [caller.revoked]),
  ]);
  const answer = await orRevoked(platform.call(contract, request, { ...caller, signal }), caller.revoked);
  // A wait that was cut short is no answer.
  if (caller.revoked?.aborted === true) throw keyEnded();
  return sendAnswer(http.reply, answerOf(answer));
}

function partsOf({ params, query, body }: FastifyRequest): RequestParts {
  return { path: params as RequestParts["path"], query: query as RequestParts["query"], body };
}
