import { kibibyte } from "../base/bytes.ts";
import { maxHeadBytes } from "./http-heads.ts";
import type { OwnAnswer } from "./own-answer.ts";
import type { Upstream } from "./upstream.ts";

/** No preview has that token, or it has ended. */
export const unknownPreview: OwnAnswer = {
  status: 404,
  errorType: "NOT_FOUND",
  message: "There is no preview at this address; it may have ended.",
  suggestion: "Start one with start_preview and use the url in its answer.",
};

/** A request line or framing that two readers could understand differently. */
export const unclearRequest: OwnAnswer = {
  status: 400,
  errorType: "INVALID_REQUEST",
  message: "Previews do not accept this request.",
  suggestion:
    "Send HTTP/1.1 with a percent-encoded path, one Host, and a body that is either chunked or has a length; under /api without parts that lead up.",
};

/** The address shows a credential of ours, which its program would see. */
export const shownCredential: OwnAnswer = {
  status: 400,
  errorType: "INVALID_REQUEST",
  message: "This address contains a credential of Glovebox, which a preview's program must not see.",
  suggestion:
    "Leave it out: a preview needs none. If it was in a browser, replace the key, which is in the history now.",
};

export const headTooLarge: OwnAnswer = {
  status: 431,
  errorType: "INVALID_REQUEST",
  message: `The address and headers of this request are larger than a preview accepts (${maxHeadBytes / kibibyte} KiB).`,
  suggestion: "Delete cookies of the preview's address, or send long values in the body.",
};

export const foreignHost: OwnAnswer = {
  status: 403,
  errorType: "PERMISSION_DENIED",
  message: "This preview does not accept that Host header.",
  suggestion: "Use the url or the direct_url of start_preview.",
};

export const foreignOrigin: OwnAnswer = {
  status: 403,
  errorType: "PERMISSION_DENIED",
  message: "A page of another origin may not open a WebSocket at a preview's direct_url.",
  suggestion: "Use the preview's url, whose name cannot be guessed.",
};

export const onlyWebSockets: OwnAnswer = {
  status: 400,
  errorType: "INVALID_REQUEST",
  message: "A preview's connection can only be upgraded to a WebSocket.",
  suggestion: "Send a GET without a body, or leave the Upgrade header out.",
};

export const tooMany: OwnAnswer = {
  status: 503,
  errorType: "CAPACITY",
  message: "Too many requests to this preview are in progress.",
  suggestion: "Wait until some of them have ended.",
  retryAfterSeconds: 5,
};

/** Others look at previews of the same owner, or at very many of others. */
export const noRoom: OwnAnswer = {
  status: 503,
  errorType: "CAPACITY",
  message: "Too many connections to previews of this owner are open, or too many requests to previews are in progress.",
  suggestion: "Close pages that show them, and retry.",
  retryAfterSeconds: 5,
};

/** What came from the program is not an answer. */
export const badAnswer: OwnAnswer = {
  status: 502,
  errorType: "NETWORK_ERROR",
  message: "The preview's program did not answer with valid HTTP, or closed the connection.",
  suggestion: "Look at its output: preview_status shows it.",
};

export const answerTooLarge: OwnAnswer = {
  status: 502,
  errorType: "NETWORK_ERROR",
  message: `The preview's program answered with headers of more than ${maxHeadBytes / kibibyte} KiB.`,
  suggestion: "Have it send less in headers: fewer or smaller cookies, a shorter Location or Link.",
};

export const lateAnswer: OwnAnswer = {
  status: 504,
  errorType: "TIMEOUT",
  message: "The preview's program took too long to answer.",
  suggestion: "Look at its output: preview_status shows it.",
};

export const noBackend: OwnAnswer = {
  status: 502,
  errorType: "NETWORK_ERROR",
  message: "Requests under /api need a backend, and none is configured for previews.",
  suggestion: "Set preview.backend (GLOVEBOX_PREVIEW_BACKEND) to its origin, such as http://127.0.0.1:3001.",
};

const backendDown: OwnAnswer = {
  status: 502,
  errorType: "NETWORK_ERROR",
  message: "The backend for /api does not answer.",
  suggestion: "Start it, or correct preview.backend (GLOVEBOX_PREVIEW_BACKEND).",
};

const starting: OwnAnswer = {
  status: 503,
  errorType: "NETWORK_ERROR",
  message: "The preview is starting: its port does not answer yet.",
  suggestion: "Ask again in a moment; preview_status shows its output.",
  isSoonOver: true,
};

const nothingListens: OwnAnswer = {
  status: 502,
  errorType: "NETWORK_ERROR",
  message: "Nothing answers at the preview's port.",
  suggestion: "Check its output, and that the program listens on the preview's port.",
};

/** No connection could be made. */
export function unreachable(
  { isProgram, unreachable: own }: Pick<Upstream, "isProgram" | "unreachable">,
  isStarting: boolean,
): OwnAnswer {
  if (own !== undefined) return own;
  if (!isProgram) return backendDown;
  return isStarting ? starting : nothingListens;
}
