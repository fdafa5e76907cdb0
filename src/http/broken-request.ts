import type { Socket } from "node:net";
import { kibibyte } from "../base/bytes.ts";
import { HttpRefusal, answerOfError, jsonType } from "./http-answer.ts";
import { STATUS_CODES } from "node:http";
import { answerAndClose } from "../base/http/connections.ts";
import { errorCode } from "../errors/glovebox-error.ts";

const slow = new WeakSet<Socket>();

/** Until the answer is called, the server's time for one request does not end what comes on this connection. */
export function takesItsTime(socket: Socket): () => void {
  slow.add(socket);
  return () => void slow.delete(socket);
}

/** Largest head of a request to the API, in bytes. */
export const maxHeadBytes: number = 16 * kibibyte;
/**
 * What the parser reads of any head before it knows what the request is for. The heads of previews' pages, with the cookies of
 * a whole site, may have 64 KiB; a little more is read so that their refusal can be the preview's own.
 */
export const maxParsedBytes: number = 80 * kibibyte;

/** For a head that is larger. */
export function headersTooLarge(): HttpRefusal {
  return new HttpRefusal(431, "INVALID_REQUEST", "The address and headers of the request are too large.", {
    suggestion: "Send at most 16 KiB of them to the API, with longer values in the body, and 64 KiB to a preview.",
  });
}

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

/** Whether what comes on a connection has bounds of its own. */
function mayTakeItsTime(socket: Socket): boolean {
  return slow.has(socket);
}
