import type { Writable } from "node:stream";

/** The bytes of the first, then those of the rest as they come. */
export async function* followedBy(
  first: Iterable<Uint8Array>,
  rest: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  yield* first;
  yield* rest;
}

/** A text as a stream of bytes; empty for none. */
export async function* textBytes(text: string): AsyncGenerator<Uint8Array, void, undefined> {
  if (text !== "") yield Buffer.from(text);
}

/** Resolves when a stream whose `write` said "enough" wants more, or takes nothing any more. */
export async function untilWritable(stream: Writable): Promise<void> {
  if (stream.destroyed) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const done = (): void => resolve();
  const events = ["drain", "close", "error"] as const;
  for (const event of events) stream.on(event, done);
  try {
    await promise;
  } finally {
    for (const event of events) stream.off(event, done);
  }
}

/**
 * Writes the chunks as fast as the stream takes them, then ends it. Stops when the stream closes or `over` settles;
 * a source that then still waits for its own input is not waited for.
 */
export async function feedStream(
  stream: Writable,
  chunks: AsyncIterable<Uint8Array>,
  over: Promise<unknown>,
): Promise<void> {
  const ended = Promise.withResolvers<"ended">();
  const end = (): void => ended.resolve("ended");
  over.then(end, end);
  stream.once("error", end).once("close", end);
  const source = chunks[Symbol.asyncIterator]();
  for (;;) {
    const next = await Promise.race([source.next(), ended.promise]);
    if (next === "ended") {
      void source.return?.();
      return;
    }
    if (next.done === true) break;
    if (!stream.write(next.value)) await untilWritable(stream);
  }
  stream.end();
}
