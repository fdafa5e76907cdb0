import type { FastifyReply } from "fastify";
import type { Logger } from "../../base/logger.ts";
import { translateError } from "./translate-error.ts";
import { answerOfError, jsonType, type WireAnswer } from "./wire-answer.ts";

export function sendAnswer(reply: FastifyReply, { status, body, retryAfterSeconds }: WireAnswer): FastifyReply {
  if (retryAfterSeconds !== null) void reply.header("retry-after", String(retryAfterSeconds));
  return reply.code(status).type(jsonType).send(body);
}

/** Sends an error in the standard form; details of unexpected ones are only in the log. */
export function sendError(reply: FastifyReply, error: unknown, logger: Logger): FastifyReply {
  const known = translateError(error);
  if (known.errorType === "INTERNAL") logger.error({ err: known.cause ?? known }, "an HTTP request failed");
  return sendAnswer(reply, answerOfError(known));
}
