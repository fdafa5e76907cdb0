import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { mebibyte } from "../bytes.ts";
import { GrowingBuffer } from "../streams/collected-bytes.ts";

/** What is still read, and dropped, of a body that was refused, and for how long. */
const maxDropped = { bytes: 16 * mebibyte, ms: 2_000 } as const;

export interface BodyBounds {
  readonly maxBytes: number;
  /** Told of the bytes that are held, before there are more. @throws to end the reading */
  readonly onHold?: ((bytes: number) => void) | undefined;
}

/**
 * The body of a request, in one piece of memory; null if it has, or announces, more than `maxBytes`. What follows of one
 * that is refused is read and dropped, at most 16 MiB and for 2 s: closed on unread bytes, its client would lose the answer.
 * @throws what the stream or `onHold` throws
 */
export async function readBody(
  request: Readable & Pick<IncomingMessage, "headers">,
  { maxBytes, onHold }: BodyBounds,
): Promise<Buffer | null> {
  const body = new GrowingBuffer();
  // Destroying it early would end the connection before the answer.
  const chunks = request.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>;
  try {
    if (Number(request.headers["content-length"] ?? 0) <= maxBytes) {
      for await (const chunk of chunks) {
        if (body.length + chunk.length > maxBytes) break;
        onHold?.(body.length + chunk.length);
        body.append(chunk);
      }
      if (request.readableEnded) return body.take();
    }
  } catch (error) {
    await dropBody(request);
    throw error;
  }
  await dropBody(request);
  return null;
}

/** Reads and drops what follows of a body; resolves at its end, or when enough of it was dropped. */
export async function dropBody(request: Readable): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let left: number = maxDropped.bytes;
  const onData = (bytes: Uint8Array): void => {
    left -= bytes.length;
    if (left < 0) resolve();
  };
  const late = setTimeout(resolve, maxDropped.ms).unref();
  const ends = ["end", "close", "error"] as const;
  for (const name of ends) request.once(name, resolve);
  request.on("data", onData);
  if (request.readableEnded || request.destroyed) resolve();
  await promise;
  clearTimeout(late);
  for (const name of ends) request.removeListener(name, resolve);
  request.removeListener("data", onData);
  request.pause();
}
