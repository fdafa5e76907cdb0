import type { FastifyReply, FastifyRequest } from "fastify";
import type { OperationContract } from "../../operations/contract/operation-contract.ts";
import { settlesWithin } from "../../base/abort.ts";
import { toGloveboxError } from "../../errors/glovebox-error.ts";
import { orRevoked } from "../or-revoked.ts";
import { callerOf } from "../caller.ts";
import type { RouteContext } from "../routes/route-context.ts";
import { keepBody } from "../server/hold-bytes.ts";
import { assertInputFits } from "../server/request-input.ts";
import { sendAnswer } from "../server/send-answer.ts";
import { untilClosed } from "../server/until-closed.ts";
import { answerForm, type StreamFormat } from "../answer-form.ts";
import { EventStream, maxWaitingBytes } from "../event-stream.ts";
import { answerOfError, type WireAnswer } from "../server/wire-answer.ts";
import { ofEveryAnswer } from "../server/answer-headers.ts";
import type { HttpRun } from "./http-run.ts";
import { isOfOwnSandbox } from "./own-sandbox.ts";
import type { RunRequest } from "./http-runs.ts";
import { withinShare } from "./within-share.ts";

/** The request is validated inside. */
const refusedWithinMs = 25;

/** Runs operations that may take long or change something, and answers in the form that the client requests. */
export async function answerRun(
  context: RouteContext,
  asked: { readonly contract: OperationContract; readonly request: Record<string, unknown> },
  { request, reply }: HttpExchange,
): Promise<FastifyReply> {
  const { "idempotency-key": key } = request.headers;
  const { input } = request;
  const run: RunRequest = {
    ...asked,
    caller: callerOf(request),
    key: typeof key === "string" ? key : undefined,
    streams: input === null ? undefined : { stdin: input.chunks },
  };
  const form = asked.contract.tool?.mayTakeLong === true ? answerForm(request.headers) : "whole";
  if (input !== null) assertInputFits(run, form);
  if (form !== "whole" && form !== "async") return answerEvents(context, run, { format: form, request, reply });
  const begun = context.runs.begin(run);
  keepBody(request, begun.call.ended);
  if (form === "async") return answerLater(reply, begun);
  begun.join(untilClosed(reply.raw));
  void reply.header("glovebox-run-id", begun.call.id);
  request.keepAnswer = () => {
    context.runs.keep(begun);
    return begun.call.id;
  };
  return sendAnswer(reply, await lastAnswer(begun, run));
}

/** The run's answer; CANCELLED if its caller's key was revoked and it does not end at once. */
async function lastAnswer(run: HttpRun, { caller }: RunRequest): Promise<WireAnswer> {
  try {
    return await orRevoked(run.answer(), caller.revoked);
  } catch (error) {
    return answerOfError(toGloveboxError(error));
  }
}

interface HttpExchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** Where to query it: `/api/sandbox/{id}`. */
function answerLater(reply: FastifyReply, run: HttpRun): FastifyReply {
  run.goOn();
  const { id, sandboxId } = run.call;
  const statusUrl = `/api/sandbox/${id}`;
  void reply.headers({ location: statusUrl, "preference-applied": "respond-async", "glovebox-run-id": id });
  const known = sandboxId ?? (isOfOwnSandbox(run.call) ? id : null);
  return reply.code(202).send({ id, sandbox_id: known, status_url: statusUrl });
}

/** The headers are sent with the first event, so that an immediate refusal can have its own status. */
async function answerEvents(
  { runs, inFlight }: RouteContext,
  asked: RunRequest,
  { format, request, reply }: { readonly format: StreamFormat } & HttpExchange,
): Promise<FastifyReply> {
  const response = reply.raw;
  const held = inFlight.hold(asked.caller.principal, maxWaitingBytes);
  response.once("close", () => held.release());
  let stream: EventStream | undefined;
  const run = runs.begin({ ...asked, onEvent: (event) => opened().send(event) });
  const openStream = (): EventStream => {
    reply.hijack();
    for (const [name, value] of Object.entries({ ...reply.getHeaders(), ...ofEveryAnswer })) {
      if (value !== undefined) response.setHeader(name, value);
    }
    return new EventStream(response, format, isOfOwnSandbox(run.call) ? run.call : null);
  };
  const opened = (): EventStream => (stream ??= openStream());
  keepBody(request, run.call.ended);
  void reply.header("glovebox-run-id", run.call.id);
  run.join(untilClosed(response));
  const isShort = await settlesWithin(run.call.ended, refusedWithinMs);
  if (isShort && stream === undefined) {
    const ended = await run.call.ended;
    if (ended.isError) return sendAnswer(reply, await ended.read());
  }
  const events = opened();
  const share = { held, besideBytes: maxWaitingBytes, id: run.call.id, keep: () => runs.keep(run) };
  events.end(withinShare(await lastAnswer(run, asked), share));
  return reply;
}
