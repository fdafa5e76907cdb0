import type { Duplex } from "node:stream";
import { mebibyte } from "../bytes.ts";

/** What is still read, and how long, of a client that goes on sending. */
const max = { bytes: mebibyte, ms: 2_000 } as const;

/**
 * Writes the last bytes of a connection and ends it, reading and dropping what its client has yet to send, at most 1 MiB and
 * for 2 s: closed on unread bytes, the client would lose the answer with them. Who read before reads no more.
 */
export function answerAndClose(socket: Duplex, answer: string): void {
  socket.removeAllListeners("data");
  let left: number = max.bytes;
  socket.on("data", (bytes: Buffer) => {
    left -= bytes.length;
    if (left < 0) socket.destroy();
  });
  const late = setTimeout(() => socket.destroy(), max.ms).unref();
  socket.once("close", () => clearTimeout(late));
  socket.end(answer);
}
