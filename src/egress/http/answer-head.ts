import { STATUS_CODES, type IncomingMessage } from "node:http";
import { lineText, readHead, type MessageHead } from "./message-head.ts";

/** The parts of a response's head that are passed on. */
export interface AnswerHead extends MessageHead {
  readonly status: number;
  readonly reason: string;
}

const printable = /^[\t\x20-\x7e]*$/;

/**
 * The head of a server's response to a request with this method, or what is wrong with it, as a phrase that follows
 * "it". So far only a parser has accepted it.
 */
export function readAnswer(answer: IncomingMessage, method: string): AnswerHead | string {
  const { statusCode: status = 0, statusMessage: reason = "", rawHeaders, httpVersion } = answer;
  if (!Number.isInteger(status) || status < 200 || status > 599) return "has a status that is none";
  if (!lineText.test(reason)) return "has a control character in its reason";
  const head = readHead(rawHeaders, httpVersion);
  if (typeof head === "string") return head;
  return {
    status,
    // Reason phrases beyond ASCII have no defined encoding.
    reason: printable.test(reason) ? reason : (STATUS_CODES[status] ?? ""),
    fields: head.fields,
    framing: hasNoBody(status, method, head) ? { kind: "none" } : head.framing,
  };
}

/** Responses to HEAD, and 304 responses, state the length of a body that they leave out. */
function hasNoBody(status: number, method: string, { framing }: MessageHead): boolean {
  return status === 204 || ((method === "HEAD" || status === 304) && framing.kind === "chunked");
}
