import type { IncomingMessage, ServerResponse } from "node:http";
import { ProtocolErrorCode } from "@modelcontextprotocol/server";
import { formatBytes } from "../base/bytes.ts";
import { readBody } from "../base/http/read-body.ts";
import type { HeldBytes } from "../calls/bytes-in-flight.ts";
import { errorCatalogue } from "../errors/catalogue.ts";
import { toGloveboxError, type GloveboxError } from "../errors/glovebox-error.ts";
import { failure, maxMessageBytes, parseJsonRpc } from "./json-rpc.ts";

/** What a POST carries, or the answer to one that is refused before the SDK sees it. */
type PostedMessage = { readonly value: unknown } | { readonly refused: Response };

/** Reads one message of at most 16 MiB, whose values are counted before they are built; null if it does not all come. */
export async function readMessage(request: IncomingMessage, held: HeldBytes): Promise<PostedMessage | null> {
  let body: Buffer | null;
  try {
    body = await readBody(request, { maxBytes: maxMessageBytes, onHold: (bytes) => held.set(bytes) });
  } catch (error) {
    if (request.errored !== null) return null;
    return noRoom(toGloveboxError(error));
  }
  if (body === null) {
    const most = formatBytes(maxMessageBytes);
    return refuse(413, failure(null, ProtocolErrorCode.InvalidRequest, `Invalid request: expected at most ${most}.`));
  }
  const parsed = parseJsonRpc(body);
  return "failure" in parsed ? refuse(400, parsed) : parsed;
}

/** The error of a caller whose share is used up. */
export function noRoom(error: GloveboxError): { readonly refused: Response } {
  const { httpStatus, jsonRpcCode } = errorCatalogue[error.errorType];
  const { retry_after_seconds: seconds } = error.context;
  const headers: Record<string, string> = typeof seconds === "number" ? { "retry-after": String(seconds) } : {};
  return refuse(httpStatus, failure(null, jsonRpcCode, error.message, error.toWire()), headers);
}

/** For the answer that there is no room. */
export const notCounted: HeldBytes = { set: () => undefined, release: () => undefined };

/**
 * Sends an answer of the SDK, whose streams queue without a bound for readers that are slow: everything is taken from
 * them at once, and what its reader has not taken yet counts against the share of its principal. A reader that has too
 * much unread is ended.
 */
export async function sendResponse(answer: Response, response: ServerResponse, held: HeldBytes): Promise<void> {
  // A revoked key may have ended it.
  if (response.writableEnded) return;
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  const reader = (answer.body as ReadableStream<Uint8Array> | null)?.getReader();
  const leave = (): void => {
    reader?.cancel().catch(() => {
      // It has ended.
    });
  };
  response.once("close", leave);
  response.on("drain", () => held.set(response.writableLength));
  try {
    for (let piece = await reader?.read(); piece?.done === false; piece = await reader?.read()) {
      if (response.destroyed || response.writableEnded) return;
      held.set(response.writableLength + piece.value.byteLength);
      response.write(piece.value);
    }
    response.end();
  } catch {
    // The SDK's stream failed, or there is no room for what its reader does not take.
    response.destroy();
  }
}

function refuse(
  status: number,
  { failure: body }: { readonly failure: unknown },
  headers: Readonly<Record<string, string>> = {},
): { readonly refused: Response } {
  // The rest of a body that is not read would be taken for the next request.
  const close: Record<string, string> = status === 400 ? {} : { connection: "close" };
  return { refused: Response.json(body, { status, headers: { ...close, ...headers } }) };
}
