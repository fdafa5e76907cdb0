import type { ServerResponse } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import { settlesWithin } from "../base/abort.ts";
import { kibibyte } from "../base/bytes.ts";
import { untilWritable } from "../base/streams/chunks.ts";
import type { ContentHead, OperationContract } from "../operations/contract/operation-contract.ts";
import { callerOf } from "./caller.ts";
import { orRevoked } from "./or-revoked.ts";
import type { RouteContext } from "./routes/route-context.ts";
import { ofEveryAnswer } from "./server/answer-headers.ts";
import { untilClosed } from "./server/until-closed.ts";
import { badRange, type WantedPart } from "./byte-range.ts";
import { bytesType } from "./accepts-bytes.ts";

/** What one transfer may have on its way, in either direction: what streams hold before they wait. */
export const transferBytes: number = 256 * kibibyte;
/** A reader that takes nothing for this long is considered gone, even if its connection is open. */
const stalledAfterMs = 60_000;

/**
 * Answers with the output of a call, as fast as its reader takes it. The status is sent with the first byte, so that a refusal has
 * its own; a failure after that cuts the answer off, which its reader sees.
 */
export async function sendBytes(
  { platform, inFlight }: RouteContext,
  asked: { readonly contract: OperationContract; readonly request: Record<string, unknown>; readonly part: WantedPart },
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
): Promise<FastifyReply> {
  const caller = callerOf(request);
  const response = reply.raw;
  const held = inFlight.hold(caller.principal, transferBytes);
  response.once("close", () => held.release());
  const gone = [untilClosed(response), ...(caller.revoked === undefined ? [] : [caller.revoked])];
  let left: number | null = null;
  const answer = platform.call(
    asked.contract,
    { ...asked.request, ...asked.part },
    {
      ...caller,
      signal: AbortSignal.any(gone),
      onContent: (head) => {
        const { offset, sizeBytes } = head;
        if (sizeBytes !== null && offset >= sizeBytes && (asked.part.offset ?? 0) > 0) {
          void reply.header("content-range", `bytes */${sizeBytes}`);
          throw badRange(sizeBytes);
        }
        left = head.length;
        reply.hijack();
        writeHead(reply, head, asked.part);
      },
      onEvent: async (event) => {
        if (event.type !== "output" || response.destroyed) return;
        // More than was announced would be read as the next answer.
        const bytes = left === null ? event.bytes : event.bytes.subarray(0, left);
        if (left !== null) left -= bytes.length;
        if (!response.write(bytes)) await untilTaken(response);
      },
    },
  );
  try {
    await orRevoked(answer, caller.revoked);
  } catch (error) {
    if (!response.headersSent) throw error;
    response.destroy();
    return reply;
  }
  // A program may have cut the file off meanwhile.
  if (left === null || left === 0) response.end();
  else response.destroy();
  return reply;
}

function writeHead(reply: FastifyReply, { sizeBytes, offset, length }: ContentHead, part: WantedPart): void {
  const response = reply.raw;
  for (const [name, value] of Object.entries({ ...reply.getHeaders(), ...ofEveryAnswer })) {
    if (value !== undefined) response.setHeader(name, value);
  }
  const isPart = sizeBytes !== null && length !== null && length > 0 && Object.keys(part).length > 0;
  response.writeHead(isPart ? 206 : 200, {
    "content-type": bytesType,
    // The content is the sandbox's: no browser shows it as a page of this server.
    "content-disposition": "attachment",
    "accept-ranges": sizeBytes === null ? "none" : "bytes",
    ...(length === null ? {} : { "content-length": length }),
    ...(isPart ? { "content-range": `bytes ${offset}-${offset + length - 1}/${sizeBytes}` } : {}),
  });
  response.flushHeaders();
}

async function untilTaken(response: ServerResponse): Promise<void> {
  if (!(await settlesWithin(untilWritable(response), stalledAfterMs))) response.destroy();
}
