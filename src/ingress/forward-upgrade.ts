import { ServerResponse, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { pipeline, type Duplex } from "node:stream";
import { answerForError, type Forwarding } from "./forward-request.ts";
import { refuseUpgrade } from "./own-answer.ts";
import { pairsOf } from "./headers/raw-headers.ts";
import { badAnswer, onlyWebSockets, unreachable } from "./refusals.ts";
import { responseHeaders } from "./headers/response-headers.ts";
import { sendInside } from "./send-inside.ts";
import { isOddlyFramed } from "./unclear-request.ts";

/** How long a program may take to agree to a WebSocket. */
const answerWithinMs = 30_000;
const keepAliveMs = 30_000;

/** Sends a WebSocket's handshake on and then carries its bytes both ways as they arrive. */
export async function forwardUpgrade(
  request: IncomingMessage,
  { socket, head }: { readonly socket: Duplex; readonly head: Buffer },
  { upstream, outer, own, isStarting, ended }: Forwarding,
): Promise<void> {
  const gone = new AbortController();
  socket.once("close", () => gone.abort());
  socket.on("error", () => gone.abort());
  if (!isWebSocket(request)) return refuseUpgrade(socket, onlyWebSockets);
  const signal = AbortSignal.any([gone.signal, ended]);
  let connection: Duplex;
  try {
    connection = await upstream.connect(signal);
  } catch {
    return refuseUpgrade(socket, unreachable(upstream, isStarting));
  }
  const headers = ["Connection", "Upgrade", "Upgrade", "websocket"];
  const sent = sendInside({ request, connection, upstream, outer, own, headers });
  const endBoth = (): void => {
    sent.destroy();
    connection.destroy();
    socket.destroy();
  };
  if (signal.aborted) return endBoth();
  signal.addEventListener("abort", endBoth, { once: true });
  const late = setTimeout(() => sent.destroy(new Error("late")), answerWithinMs).unref();
  sent.once("close", () => clearTimeout(late));
  let isAnswered = false;
  sent.on("error", (error) => {
    if (!isAnswered) refuseUpgrade(socket, answerForError(error));
  });
  sent.on("response", (answer) => {
    isAnswered = true;
    if (isOddlyFramed(answer)) refuseUpgrade(socket, badAnswer);
    else refuseAs(request, socket, answer, responseHeaders(answer, upstream, outer));
  });
  sent.on("upgrade", (answer, inner, innerHead) => {
    clearTimeout(late);
    // It is no request's any more.
    sent.removeAllListeners("close");
    if ((answer.headers.upgrade ?? "").toLowerCase() !== "websocket") {
      inner.destroy();
      return refuseUpgrade(socket, badAnswer);
    }
    (socket as Partial<Socket>).setKeepAlive?.(true, keepAliveMs);
    (socket as Partial<Socket>).setNoDelay?.(true);
    socket.write(handshake(answer, responseHeaders(answer, upstream, outer)), "latin1");
    if (innerHead.length > 0) socket.write(innerHead);
    if (head.length > 0) inner.write(head);
    join(socket, inner);
  });
  sent.end();
}

function isWebSocket({ method, headers }: IncomingMessage): boolean {
  const isEmpty = headers["transfer-encoding"] === undefined && Number(headers["content-length"] ?? 0) === 0;
  return method === "GET" && isEmpty && (headers.upgrade ?? "").toLowerCase() === "websocket";
}

/** Names and values have passed a parser that lets no line end through. */
function handshake({ statusMessage = "" }: IncomingMessage, headers: readonly string[]): string {
  const lines = pairsOf(headers).map(([name, value]) => `${name}: ${value}`);
  return [`HTTP/1.1 101 ${statusMessage}`, "Connection: Upgrade", "Upgrade: websocket", ...lines, "", ""].join("\r\n");
}

function join(socket: Duplex, inner: Duplex): void {
  const done = (): void => {
    socket.destroy();
    inner.destroy();
  };
  pipeline(socket, inner, done);
  pipeline(inner, socket, done);
}

/** The program's own refusal. */
function refuseAs(request: IncomingMessage, socket: Duplex, answer: IncomingMessage, headers: readonly string[]): void {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.sendDate = false;
  response.assignSocket(socket as Socket);
  response.on("finish", () => socket.end());
  try {
    response.writeHead(answer.statusCode ?? 0, answer.statusMessage ?? "", [...headers]);
  } catch {
    answer.destroy();
    return void socket.destroy();
  }
  pipeline(answer, response, (error) => {
    if (error) socket.destroy();
  });
}
