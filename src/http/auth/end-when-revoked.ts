import type { ServerResponse } from "node:http";

/** Time for a run that was ended to report it. */
const lastAnswerMs = 1000;

/**
 * Closes the connection of a response, streams included, that is still in progress a moment after its caller's key was
 * revoked.
 */
export function endWhenRevoked(revoked: AbortSignal, response: ServerResponse): void {
  let timer: NodeJS.Timeout | undefined;
  const end = (): void => {
    timer = setTimeout(() => response.socket?.destroy(), lastAnswerMs).unref();
  };
  revoked.addEventListener("abort", end, { once: true });
  response.once("close", () => {
    revoked.removeEventListener("abort", end);
    clearTimeout(timer);
  });
}
