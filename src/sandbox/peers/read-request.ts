import type { Socket } from "node:net";
import { GloveboxError } from "../../errors/glovebox-error.ts";

/** More than the longest command and environment that a kernel takes. */
const maxBytes = 8 * 1024 * 1024;
/** A peer sends its line at once. */
const lineMs = 10_000;

/**
 * The first line of a connection; what came behind it can still be read.
 * @throws INVALID_REQUEST when no line comes, or none of a sensible length
 */
export async function readRequest(socket: Socket): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let pieces: Buffer[] = [];
  let length = 0;
  const onData = (bytes: Buffer): void => {
    const end = bytes.indexOf(0x0a);
    pieces.push(bytes);
    length += bytes.length;
    if (length > maxBytes) return reject(noRequest(`more than ${maxBytes} bytes`));
    if (end < 0) return;
    const all = Buffer.concat(pieces);
    pieces = [];
    const at = length - bytes.length + end;
    socket.pause();
    socket.off("data", onData);
    if (at + 1 < all.length) socket.unshift(all.subarray(at + 1));
    resolve(all.toString("utf8", 0, at));
  };
  const onClose = (): void => reject(noRequest("the end"));
  const timer = setTimeout(() => reject(noRequest("nothing")), lineMs).unref();
  socket.on("data", onData);
  socket.once("close", onClose);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    socket.pause();
    socket.off("data", onData);
    socket.off("close", onClose);
  }
}

function noRequest(came: string): GloveboxError {
  return new GloveboxError("INVALID_REQUEST", `A peer server expects a request in one line first; ${came} came.`);
}
