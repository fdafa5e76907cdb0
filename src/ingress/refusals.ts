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
  suggestion: "Send a path, one Host, and a body that is either chunked or has a length.",
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
  suggestion: "Leave the Upgrade header out.",
};

export const tooMany: OwnAnswer = {
  status: 503,
  errorType: "CAPACITY",
  message: "Too many requests to this preview are in progress.",
  suggestion: "Wait until some of them have ended.",
};

/** What came from the program is not an answer. */
export const badAnswer: OwnAnswer = {
  status: 502,
  errorType: "NETWORK_ERROR",
  message: "The preview's program did not answer with valid HTTP, or closed the connection.",
  suggestion: "Look at its output: preview_status shows it.",
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
export function unreachable({ isProgram }: Pick<Upstream, "isProgram">, isStarting: boolean): OwnAnswer {
  if (!isProgram) return backendDown;
  return isStarting ? starting : nothingListens;
}
