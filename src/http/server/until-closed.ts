import type { ServerResponse } from "node:http";

/** Aborts when the client goes away before it has its answer. */
export function untilClosed(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) gone.abort();
  });
  return gone.signal;
}
