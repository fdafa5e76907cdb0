import type { ServerResponse } from "node:http";
import { isJSONRPCRequest } from "@modelcontextprotocol/server";
import { errorCatalogue } from "../../errors/catalogue.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { failure } from "../parse-json-rpc.ts";

/** Time for calls that end with the key to be answered first. */
const lastAnswersMs = 700;

/**
 * Ends the answer to a message, streams included, with CANCELLED a moment after its caller's key was revoked: as the
 * error of the request that it answers, or in a stream that answers none as a notification.
 */
export function endWhenRevoked(revoked: AbortSignal, message: unknown, response: ServerResponse): void {
  let timer: NodeJS.Timeout | undefined;
  const end = (): void => {
    timer = setTimeout(() => sayGoodbye(message, response), lastAnswersMs).unref();
  };
  if (revoked.aborted) end();
  else revoked.addEventListener("abort", end, { once: true });
  response.once("close", () => {
    revoked.removeEventListener("abort", end);
    clearTimeout(timer);
  });
}

function sayGoodbye(message: unknown, response: ServerResponse): void {
  if (response.writableEnded) return;
  const error = new GloveboxError("CANCELLED", "The API key was revoked or has expired.", {
    suggestion: "Ask the operator for another key.",
    context: { reason: "key_revoked" },
  });
  const body = JSON.stringify(isJSONRPCRequest(message) ? answerTo(message.id, error) : notice(error));
  if (!response.headersSent) {
    response.writeHead(errorCatalogue.CANCELLED.httpStatus, {
      "content-type": "application/json",
      connection: "close",
    });
    response.end(body);
  } else response.end(`event: message\ndata: ${body}\n\n`);
}

function answerTo(id: string | number, error: GloveboxError): object {
  return failure(id, errorCatalogue.CANCELLED.jsonRpcCode, error.message, error.toWire()).failure;
}

function notice(error: GloveboxError): object {
  const params = { level: "error", logger: "glovebox", data: error.toWire() };
  return { jsonrpc: "2.0", method: "notifications/message", params };
}
