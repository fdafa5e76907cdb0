import type { ServerResponse } from "node:http";

/** For a run that was ended to tell so. */
const lastAnswerMs = 1000;

/** Ends the connection of an answer that is still going on a moment after its caller's key was revoked, streams too. */
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
