import type { IncomingMessage } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import { dropBody } from "../../base/http/read-body.ts";
import type { OperationContract } from "../../operations/contract/operation-contract.ts";
import { callerOf } from "../auth/caller.ts";
import { orRevoked } from "../auth/or-revoked.ts";
import type { RouteContext } from "../routes/route-context.ts";
import { HttpRefusal } from "../server/http-refusal.ts";
import { sendAnswer } from "../server/send-answer.ts";
import { untilClosed } from "../server/until-closed.ts";
import { answerOf } from "../server/wire-answer.ts";
import { bytesType } from "./accepts-bytes.ts";
import { transferBytes } from "./send-bytes.ts";
import { takesItsTime } from "./slow-uploads.ts";

/** A sender that sends nothing for this long is considered gone, even if its connection is open. */
const stalledAfterMs = 60_000;

interface Upload {
  readonly contract: OperationContract;
  /** @throws INVALID_REQUEST */
  readonly read: () => Record<string, unknown>;
}

interface HttpExchange {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** Runs an operation whose input is the body, read as fast as the operation takes it and never held as a whole. */
export async function receiveBytes(
  context: RouteContext,
  asked: Upload,
  { request, reply }: HttpExchange,
): Promise<FastifyReply> {
  try {
    return await receive(context, asked, { request, reply });
  } catch (error) {
    // Closed on unread bytes, its client would lose the answer.
    await dropBody(request.raw);
    throw error;
  }
}

async function receive(
  { platform, inFlight, assertTakesWork }: RouteContext,
  { contract, read }: Upload,
  { request, reply }: HttpExchange,
): Promise<FastifyReply> {
  assertTakesWork();
  const asked = read();
  const caller = callerOf(request);
  const size = announcedSize(request.raw);
  const held = inFlight.hold(caller.principal, transferBytes);
  const isDone = takesItsTime(request.raw.socket);
  reply.raw.once("close", () => {
    held.release();
    // The next request of this connection has the usual time again.
    isDone();
  });
  const stalled = new AbortController();
  const signals = [untilClosed(reply.raw), stalled.signal, ...(caller.revoked === undefined ? [] : [caller.revoked])];
  const call = { ...caller, signal: AbortSignal.any(signals), stdin: piecesOf(request.raw, stalled) };
  try {
    const sized = size === null ? asked : { ...asked, size_bytes: size };
    const answer = await orRevoked(platform.call(contract, sized, call), caller.revoked);
    return await sendAnswer(reply, answerOf(answer));
  } catch (error) {
    throw stalled.signal.aborted ? tooSlow() : error;
  }
}

/** Null: its end will tell. @throws 415, 411, 400 */
function announcedSize({ headers }: IncomingMessage): number | null {
  const { "content-type": type = bytesType, "content-length": length, "transfer-encoding": coding } = headers;
  if (type.split(";", 1)[0]?.trim().toLowerCase() !== bytesType) throw otherType(type);
  if (length !== undefined) return Number(length);
  if (coding !== undefined) return null;
  throw new HttpRefusal(411, "INVALID_REQUEST", "body: expected the content of the file, got no body.", {
    suggestion: "Send Content-Length (0 for an empty file) or Transfer-Encoding: chunked.",
    context: { field: "body" },
  });
}

async function* piecesOf(body: IncomingMessage, stalled: AbortController): AsyncGenerator<Uint8Array, void, undefined> {
  // Only while waiting for the sender: the sandbox may take its time.
  let timer: NodeJS.Timeout | undefined;
  const waitForSender = (): void => {
    timer = setTimeout(() => stalled.abort(), stalledAfterMs).unref();
  };
  try {
    waitForSender();
    // Destroying it early would end the connection before the answer.
    for await (const piece of body.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
      clearTimeout(timer);
      yield piece;
      waitForSender();
    }
  } finally {
    clearTimeout(timer);
  }
}

function otherType(type: string): HttpRefusal {
  return new HttpRefusal(415, "INVALID_REQUEST", `body: expected the Content-Type ${bytesType}.`, {
    suggestion: `Send the file as it is, with the header Content-Type: ${bytesType}; as JSON: the same path without the file's.`,
    context: { field: "Content-Type", content_type: type.slice(0, 100) },
  });
}

function tooSlow(): HttpRefusal {
  return new HttpRefusal(408, "INVALID_REQUEST", "The body did not go on for a minute; the file is as it was.", {
    suggestion: "Send it again, without such pauses.",
  });
}
