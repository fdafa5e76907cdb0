import { Readable } from "node:stream";
import type { FastifyReply } from "fastify";
import type { Logger } from "../../base/kit.ts";
import { translateError } from "./translate-error.ts";
import { answerOfError, jsonType, type WireAnswer } from "./wire-answer.ts";

export function sendAnswer(reply: FastifyReply, { status, body, retryAfterSeconds }: WireAnswer): FastifyReply {
  if (retryAfterSeconds !== null) void reply.header("retry-after", String(retryAfterSeconds));
  void reply.code(status).type(jsonType);
  if (typeof body === "string") return reply.send(body);
  const parts = Readable.from(body.parts(), { objectMode: false });
  return reply.header("content-length", body.byteLength).send(parts);
}

/** Sends an error in the standard form; details of unexpected ones are only in the log. */
export function sendError(reply: FastifyReply, error: unknown, logger: Logger): FastifyReply {
  const known = translateError(error);
  if (known.errorType === "INTERNAL") logger.error({ err: known.cause ?? known }, "an HTTP request failed");
  return sendAnswer(reply, answerOfError(known));
}
