import { STATUS_CODES, type IncomingMessage } from "node:http";
import { lineText, readHead, type MessageHead } from "./message-head.ts";

/** What is passed on of an answer's head. */
export interface AnswerHead extends MessageHead {
  readonly status: number;
  readonly reason: string;
}

const printable = /^[\t\x20-\x7e]*$/;

/**
 * The head of a far side's answer to a request of the method, or what is wrong with it, in words to follow "it". Nothing
 * of it has been checked but that a parser took it.
 */
export function readAnswer(answer: IncomingMessage, method: string): AnswerHead | string {
  const { statusCode: status = 0, statusMessage: reason = "", rawHeaders, httpVersion } = answer;
  if (!Number.isInteger(status) || status < 200 || status > 599) return "has a status that is none";
  if (!lineText.test(reason)) return "has a control character in its reason";
  const head = readHead(rawHeaders, httpVersion);
  if (typeof head === "string") return head;
  return {
    status,
    // Words beyond ASCII have no agreed reading.
    reason: printable.test(reason) ? reason : (STATUS_CODES[status] ?? ""),
    fields: head.fields,
    framing: hasNoBody(status, method, head) ? { kind: "none" } : head.framing,
  };
}

/** An answer to HEAD, and one that nothing has changed, name the length of what they leave out. */
function hasNoBody(status: number, method: string, { framing }: MessageHead): boolean {
  return status === 204 || ((method === "HEAD" || status === 304) && framing.kind === "chunked");
}
