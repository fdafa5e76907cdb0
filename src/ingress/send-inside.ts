import { request as httpRequest, type ClientRequest, type IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { maxHeadBytes } from "./raw-headers.ts";
import type { OwnCredentials } from "./own-credentials.ts";
import { requestHeaders } from "./request-headers.ts";
import type { OuterOrigin, Upstream } from "./upstream.ts";

/** Interim answers (early hints and the like, which are not passed on) before the answer: a program may send any number. */
const maxInterim = 16;

export interface SendInside {
  readonly request: IncomingMessage;
  readonly connection: Duplex;
  readonly upstream: Upstream;
  readonly outer: OuterOrigin;
  readonly own: OwnCredentials;
  /** Beside those that are passed on. */
  readonly headers?: readonly string[] | undefined;
}

/**
 * Begins the same request on a connection to its program. An answer that is not HTTP, a head that is too large and endless
 * interim answers are an error of what it returns, which ends this one exchange.
 */
export function sendInside({ request, connection, headers = [], ...way }: SendInside): ClientRequest {
  connection.on("error", () => {
    // The request learns of it by itself.
  });
  const sent = httpRequest({
    method: request.method ?? "GET",
    path: request.url ?? "/",
    headers: [...requestHeaders(request, way), ...headers] as never,
    createConnection: () => connection,
    setHost: false,
    maxHeaderSize: maxHeadBytes,
    insecureHTTPParser: false,
  });
  // Their size is what is bounded.
  sent.maxHeadersCount = 0;
  let interim = 0;
  sent.on("information", () => {
    if (++interim > maxInterim) sent.destroy(new Error("too many interim answers"));
  });
  sent.once("close", () => connection.destroy());
  return sent;
}
