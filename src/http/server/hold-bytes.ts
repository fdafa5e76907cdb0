import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { kibibyte } from "../../base/bytes.ts";
import type { BytesInFlight, HeldBytes } from "../../calls/bytes-in-flight.ts";
import { toGloveboxError } from "../../errors/glovebox-error.ts";
import { noRoomNow } from "../runs/within-share.ts";
import { answerOfError, jsonType } from "./wire-answer.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** What its body takes; null for none, and once the work on it has that. */
    heldBody: HeldBytes | null;
    /** Keeps an answer for which there is no room now; returns the id with which it can be asked for. Null: it is not of a run. */
    keepAnswer: (() => string) | null;
  }
}

/** Shorter answers are not counted: each connection has one of them at most, and the kernel takes them at once. */
const countedFrom = 16 * kibibyte;

/**
 * Counts every answer against its caller's share until its reader has taken it, and the bodies that `holdBody` began to
 * count until they are answered. An answer that is too much is replaced by the error `CAPACITY`, which is short.
 */
export function holdBytes(app: FastifyInstance, inFlight: BytesInFlight): void {
  app.decorateRequest("heldBody", null);
  app.decorateRequest("keepAnswer", null);
  app.addHook("onRequest", async (request, reply) => {
    reply.raw.once("close", () => request.heldBody?.release());
  });
  app.addHook("onSend", async (request, reply, payload) => {
    const bytes = sizeOf(reply, payload);
    if (bytes < countedFrom) return payload;
    try {
      const held = inFlight.hold(request.caller?.principal ?? null, bytes);
      reply.raw.once("close", () => held.release());
      return payload;
    } catch (error) {
      const id = request.keepAnswer?.();
      const known = id === undefined ? toGloveboxError(error) : noRoomNow(error, id);
      const { status, body, retryAfterSeconds } = answerOfError(known);
      void reply.code(status).removeHeader("content-length");
      void reply.headers({ "retry-after": String(retryAfterSeconds), "content-type": jsonType });
      return body;
    }
  });
}

/** Begins to count the body of a request. @throws CAPACITY */
export function holdBody(request: FastifyRequest, inFlight: BytesInFlight): HeldBytes {
  request.heldBody = inFlight.hold(request.caller?.principal ?? null);
  return request.heldBody;
}

/** Counts the body of a request until the work on it has ended, whenever its client leaves. */
export function keepBody(request: FastifyRequest, ended: Promise<unknown>): void {
  const { heldBody: held } = request;
  request.heldBody = null;
  if (held !== null) void ended.finally(() => held.release());
}

function sizeOf(reply: FastifyReply, payload: unknown): number {
  if (typeof payload === "string") return Buffer.byteLength(payload);
  if (payload instanceof Uint8Array) return payload.byteLength;
  return Number(reply.getHeader("content-length") ?? 0);
}
