import type { ServerResponse } from "node:http";

/** Aborts when the client disconnects before it has its answer. */
export function untilClosed(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) gone.abort();
  });
  return gone.signal;
}
