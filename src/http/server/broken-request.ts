import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { answerAndClose } from "../../base/http/connections.ts";
import { errorCode } from "../../errors/glovebox-error.ts";
import { mayTakeItsTime } from "../slow-uploads.ts";
import { headersTooLarge } from "./head-limit.ts";
import { HttpRefusal } from "./http-refusal.ts";
import { answerOfError, jsonType } from "./wire-answer.ts";

/**
 * Answers invalid HTTP, or a request that comes too slowly, with a regular error, and closes the connection. Without an answer
 * it closes one on which nothing has come: a client that just begins to use it would take that for the answer to its request.
 */
export function answerBrokenRequest(error: Error, socket: Socket): void {
  const code = errorCode(error);
  if (code === "ERR_HTTP_REQUEST_TIMEOUT" && mayTakeItsTime(socket)) return;
  if (code === "ECONNRESET" || !socket.writable || socket.bytesRead === 0) {
    socket.destroy();
    return;
  }
  const { status, body } = answerOfError(refusalOf(code));
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`,
    `content-type: ${jsonType}`,
    `content-length: ${Buffer.byteLength(body)}`,
    "connection: close",
  ];
  answerAndClose(socket, `${head.join("\r\n")}\r\n\r\n${body}`);
}

function refusalOf(code: string): HttpRefusal {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") {
    return new HttpRefusal(408, "INVALID_REQUEST", "The request did not arrive in time.", {
      suggestion: "Send its headers within 10 s and all of it within 60 s.",
    });
  }
  if (code === "HPE_HEADER_OVERFLOW") return headersTooLarge();
  return new HttpRefusal(400, "INVALID_REQUEST", "The request is not valid HTTP.", {
    suggestion: "Send HTTP/1.1.",
  });
}
