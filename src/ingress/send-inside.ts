import { request as httpRequest, type ClientRequest, type IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { kibibyte } from "../base/bytes.ts";
import { requestHeaders } from "./headers/request-headers.ts";
import type { OuterOrigin, Upstream } from "./upstream.ts";

/** Largest head of an answer, and interim answers before it: a program may answer what it likes. */
const max = { headBytes: 64 * kibibyte, interim: 16 } as const;

export interface SendInside {
  readonly request: IncomingMessage;
  readonly connection: Duplex;
  readonly upstream: Upstream;
  readonly outer: OuterOrigin;
  /** Beside those that are passed on. */
  readonly headers?: readonly string[] | undefined;
}

/**
 * Begins the same request on a connection to its program. An answer that is not HTTP, a head that is too large and endless
 * interim answers are an error of what it returns, which ends this one exchange.
 */
export function sendInside({ request, connection, upstream, outer, headers = [] }: SendInside): ClientRequest {
  connection.on("error", () => {
    // The request learns of it by itself.
  });
  const sent = httpRequest({
    method: request.method ?? "GET",
    path: request.url ?? "/",
    headers: [...requestHeaders(request, upstream, outer), ...headers] as never,
    createConnection: () => connection,
    setHost: false,
    maxHeaderSize: max.headBytes,
    insecureHTTPParser: false,
  });
  let interim = 0;
  sent.on("information", () => {
    if (++interim > max.interim) sent.destroy(new Error("too many interim answers"));
  });
  sent.once("close", () => connection.destroy());
  return sent;
}
