/** A body that is sent as it comes. */
export interface SentPieces {
  readonly body: ReadableStream<Uint8Array> | Promise<Blob>;
  /** What its source threw; null: it has not failed. */
  readonly failure: () => { readonly error: unknown } | null;
  /** The call is over: nothing more is read. `fetch` itself would read on what it no longer sends, without end. */
  readonly end: () => void;
}

/** Read only as far as the connection takes it; by a browser as a whole, because its `fetch` sends no streams over HTTP/1.1. */
export function sendPieces(content: AsyncIterable<Uint8Array>, signal: AbortSignal): SentPieces {
  const pieces = content[Symbol.asyncIterator]();
  const over = Promise.withResolvers<"over">();
  let isOver = false;
  let failed: { readonly error: unknown } | null = null;
  const end = (): void => {
    if (isOver) return;
    isOver = true;
    over.resolve("over");
    // A source that still waits for its own input is not waited for.
    Promise.resolve(pieces.return?.()).catch(() => undefined);
  };
  /** Null: there is no more. @throws what the source throws, and when the call is over: what was sent is not the whole */
  const next = async (): Promise<Uint8Array | null> => {
    const taken = await Promise.race([over.promise, read()]);
    if (taken === "over") throw new Error("The call is over before its input.");
    return taken.done === true ? null : taken.value;
  };
  const read = async (): Promise<IteratorResult<Uint8Array, unknown>> => {
    try {
      return await pieces.next();
    } catch (error) {
      failed = { error };
      throw error;
    }
  };
  const failure = (): { readonly error: unknown } | null => failed;
  if ("document" in globalThis || "importScripts" in globalThis) {
    signal.addEventListener("abort", end, { once: true });
    return { body: gather(next), failure, end };
  }
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    const piece = await next();
    if (piece === null) controller.close();
    else controller.enqueue(piece);
  };
  return { body: new ReadableStream({ pull, cancel: end }, { highWaterMark: 0 }), failure, end };
}

async function gather(next: () => Promise<Uint8Array | null>): Promise<Blob> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  for (let piece = await next(); piece !== null; piece = await next()) pieces.push(new Uint8Array(piece));
  return new Blob(pieces);
}
