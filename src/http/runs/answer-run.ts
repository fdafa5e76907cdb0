import type { FastifyReply, FastifyRequest } from "fastify";
import type { OperationContract } from "../../operations/contract/operation-contract.ts";
import { settlesWithin } from "../../base/abort.ts";
import { callerOf } from "../auth/caller.ts";
import type { RouteContext } from "../routes/route-context.ts";
import { sendAnswer } from "../server/send-answer.ts";
import { untilClosed } from "../server/until-closed.ts";
import { answerForm, type StreamFormat } from "../streaming/answer-form.ts";
import { EventStream } from "../streaming/event-stream.ts";
import { ofEveryAnswer } from "../server/answer-headers.ts";
import type { HttpRun } from "./http-run.ts";
import { isOfOwnSandbox } from "./own-sandbox.ts";
import type { RunRequest } from "./http-runs.ts";

/** The request is validated inside. */
const refusedWithinMs = 25;

/** Runs operations that may take long or change something, and answers in the form that the client requests. */
export async function answerRun(
  context: RouteContext,
  asked: { readonly contract: OperationContract; readonly request: Record<string, unknown> },
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
): Promise<FastifyReply> {
  const { "idempotency-key": key } = request.headers;
  const run: RunRequest = { ...asked, caller: callerOf(request), key: typeof key === "string" ? key : undefined };
  const form = asked.contract.tool?.mayTakeLong === true ? answerForm(request.headers) : "whole";
  if (form === "async") return answerLater(reply, context.runs.begin(run));
  if (form !== "whole") return answerEvents(context, run, { format: form, reply });
  const begun = context.runs.begin(run);
  begun.join(untilClosed(reply.raw));
  void reply.header("glovebox-run-id", begun.call.id);
  return sendAnswer(reply, await begun.answer());
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
  { runs }: RouteContext,
  asked: RunRequest,
  { format, reply }: { readonly format: StreamFormat; readonly reply: FastifyReply },
): Promise<FastifyReply> {
  const response = reply.raw;
  let stream: EventStream | undefined;
  const run = runs.begin({ ...asked, onEvent: (event) => opened().send(event) });
  const openStream = (): EventStream => {
    reply.hijack();
    for (const [name, value] of Object.entries({ ...reply.getHeaders(), ...ofEveryAnswer })) {
      if (value !== undefined) response.setHeader(name, value);
    }
    return new EventStream(response, format, isOfOwnSandbox(run.call) ? run.call.id : null);
  };
  const opened = (): EventStream => (stream ??= openStream());
  void reply.header("glovebox-run-id", run.call.id);
  run.join(untilClosed(response));
  const isShort = await settlesWithin(run.call.ended, refusedWithinMs);
  if (isShort && stream === undefined) {
    const ended = await run.call.ended;
    if (ended.isError) return sendAnswer(reply, await ended.read());
  }
  const events = opened();
  events.end(await run.answer());
  return reply;
}
