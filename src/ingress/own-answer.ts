import { STATUS_CODES, type IncomingMessage, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { answerAndClose } from "../base/http/connections.ts";
import type { ErrorType } from "../errors/catalogue.ts";

/** An answer of ours in a preview's place. */
export interface OwnAnswer {
  readonly status: 400 | 403 | 404 | 431 | 502 | 503 | 504;
  readonly errorType: ErrorType;
  readonly message: string;
  readonly suggestion: string;
  /** What programs are answered instead of the shape of every error. */
  readonly body?: Readonly<Record<string, unknown>>;
  /** Whether a page should reload by itself, in a second. */
  readonly isSoonOver?: boolean;
  /** When to ask again. */
  readonly retryAfterSeconds?: number;
}

/** Sends it: as a page to a browser that asks for one, else in the shape of every error. Frames may show it. */
export function sendOwnAnswer(request: IncomingMessage, response: ServerResponse, answer: OwnAnswer): void {
  if (response.headersSent) return void response.destroy();
  const isPage = (request.headers.accept ?? "").includes("text/html");
  const body = isPage ? pageOf(answer) : JSON.stringify(wireOf(answer));
  // The phrase too: an answer that failed to begin has left its own.
  response.writeHead(answer.status, STATUS_CODES[answer.status] ?? "", {
    "content-type": isPage ? "text/html; charset=utf-8" : "application/json; charset=utf-8",
    "content-length": Buffer.byteLength(body),
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    ...retryAfter(answer),
    // What is left of the request is not read.
    connection: "close",
  });
  response.end(request.method === "HEAD" ? undefined : body);
}

/** The same on a connection that was to become a WebSocket. */
export function refuseUpgrade(socket: Duplex, answer: OwnAnswer): void {
  const body = JSON.stringify(wireOf(answer));
  const head = [
    `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? ""}`,
    "content-type: application/json; charset=utf-8",
    `content-length: ${Buffer.byteLength(body)}`,
    "connection: close",
    ...Object.entries(retryAfter(answer)).map(([name, value]) => `${name}: ${value}`),
  ];
  answerAndClose(socket, `${head.join("\r\n")}\r\n\r\n${body}`);
}

function retryAfter({ isSoonOver = false, retryAfterSeconds }: OwnAnswer): Readonly<Record<string, string>> {
  const seconds = isSoonOver ? 1 : retryAfterSeconds;
  return seconds === undefined ? {} : { "retry-after": String(seconds) };
}

function wireOf({ errorType, message, suggestion, body }: OwnAnswer): Readonly<Record<string, unknown>> {
  return body ?? { error_type: errorType, message, suggestion, context: {} };
}

function pageOf({ message, suggestion, isSoonOver }: OwnAnswer): string {
  const refresh = isSoonOver === true ? '<meta http-equiv="refresh" content="1">' : "";
  return [
    `<!doctype html><html lang="en"><meta charset="utf-8">${refresh}<title>Preview</title>`,
    "<style>body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:4rem auto;padding:0 1rem;color-scheme:light dark}</style>",
    `<h1>Preview</h1><p>${escapeHtml(message)}</p><p>${escapeHtml(suggestion)}</p></html>`,
  ].join("\n");
}

function escapeHtml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
