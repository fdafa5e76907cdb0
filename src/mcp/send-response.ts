import type { ServerResponse } from "node:http";
import type { HeldBytes } from "../calls/bytes-in-flight.ts";

/** For the answer that there is no room. */
export const notCounted: HeldBytes = { set: () => undefined, release: () => undefined };

/**
 * Sends an answer of the SDK, whose streams queue without a bound for readers that are slow: everything is taken from
 * them at once, and what its reader has not taken yet counts against the share of its principal. A reader that has too
 * much unread is ended.
 */
export async function sendResponse(answer: Response, response: ServerResponse, held: HeldBytes): Promise<void> {
  // A revoked key may have ended it.
  if (response.writableEnded) return;
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  const reader = (answer.body as ReadableStream<Uint8Array> | null)?.getReader();
  const leave = (): void => {
    reader?.cancel().catch(() => {
      // It has ended.
    });
  };
  response.once("close", leave);
  response.on("drain", () => held.set(response.writableLength));
  try {
    for (let piece = await reader?.read(); piece?.done === false; piece = await reader?.read()) {
      if (response.destroyed || response.writableEnded) return;
      held.set(response.writableLength + piece.value.byteLength);
      response.write(piece.value);
    }
    response.end();
  } catch {
    // The SDK's stream failed, or there is no room for what its reader does not take.
    response.destroy();
  }
}
