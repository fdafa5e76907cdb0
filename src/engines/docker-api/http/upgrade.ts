import type { ClientRequest, IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { ApiRequest } from "./api-request.ts";

/** A connection that carries a process's bytes both ways. */
export interface RawStream {
  readonly socket: Duplex;
}

/**
 * Sends the request and takes the connection over once the engine agrees; its answer when it refuses.
 * The body must have a known length: a chunked one would reach the program's standard input on some engines.
 */
export function upgradeToStream(
  request: ClientRequest,
  { body, signal }: Pick<ApiRequest, "body" | "signal">,
): Promise<RawStream | IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<RawStream | IncomingMessage>();
  const onAbort = (): void => void request.destroy(new Error("aborted"));
  const settle = (): void => signal?.removeEventListener("abort", onAbort);
  signal?.addEventListener("abort", onAbort, { once: true });
  request.on("upgrade", (_response, socket: Duplex, head: Buffer) => {
    settle();
    // The time limit of an idle connection does not apply to this one any more.
    (socket as Partial<Pick<Socket, "setTimeout">>).setTimeout?.(0);
    // The end of a broken connection is told by `close`.
    socket.on("error", () => {
      // An error without a listener would end the server.
    });
    if (head.length > 0) socket.unshift(head);
    resolve({ socket });
  });
  request.on("response", (response) => {
    settle();
    response.on("error", () => {
      // Told by the iteration of its body.
    });
    resolve(response);
  });
  request.on("error", (error) => {
    settle();
    reject(error);
  });
  const text = body === undefined ? "" : JSON.stringify(body);
  if (text !== "") request.setHeader("content-type", "application/json");
  request.setHeader("content-length", Buffer.byteLength(text));
  request.setNoDelay(true);
  request.end(text);
  return promise;
}
