import type { IncomingMessage } from "node:http";
import { ProtocolErrorCode } from "@modelcontextprotocol/server";
import { formatBytes } from "../base/bytes.ts";
import { readBody } from "../base/http/read-body.ts";
import type { HeldBytes } from "../calls/bytes-in-flight.ts";
import { errorCatalogue } from "../errors/catalogue.ts";
import { toGloveboxError, type GloveboxError } from "../errors/glovebox-error.ts";
import { failure, maxMessageBytes, parseJsonRpc } from "./parse-json-rpc.ts";

/** What a POST carries, or the answer to one that is refused before the SDK sees it. */
export type PostedMessage = { readonly value: unknown } | { readonly refused: Response };

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

function refuse(
  status: number,
  { failure: body }: { readonly failure: unknown },
  headers: Readonly<Record<string, string>> = {},
): { readonly refused: Response } {
  // The rest of a body that is not read would be taken for the next request.
  const close: Record<string, string> = status === 400 ? {} : { connection: "close" };
  return { refused: Response.json(body, { status, headers: { ...close, ...headers } }) };
}
