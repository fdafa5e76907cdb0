import type { Writable } from "node:stream";
import { untilWritable } from "./until-writable.ts";

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
