import type { Writable } from "node:stream";

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
