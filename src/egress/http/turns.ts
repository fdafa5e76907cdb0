import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

/** Maximum pipelined requests; hardly any client sends a second one. */
const maxWaiting = 8;
/** How long a client gets to read an error before its connection is closed. */
const lastWordsMs = 1_000;

/**
 * Handles the requests of one connection one after another, even if they were pipelined: each may take a connection to
 * a server. A client that sends too many, or whose request fails, loses its connection.
 */
export class Turns {
  readonly #last = new WeakMap<Duplex, { readonly done: Promise<void>; waiting: number }>();
  readonly #ending = new WeakSet<Duplex>();

  /** Whether a request is being handled. */
  isTaken(stream: Duplex): boolean {
    return (this.#last.get(stream)?.waiting ?? 0) > 0;
  }

  /** Ends the connection once the current response has had its time; whatever follows on it is ignored. */
  endSoon(stream: Duplex): void {
    if (this.#ending.has(stream)) return;
    this.#ending.add(stream);
    setTimeout(() => stream.destroy(), lastWordsMs);
  }

  take(stream: Duplex, response: ServerResponse, handle: () => Promise<void>): void {
    const before = this.#last.get(stream);
    const waiting = (before?.waiting ?? 0) + 1;
    if (waiting > maxWaiting) return void stream.destroy();
    const turn = { done: this.#handle(before?.done, stream, { response, handle }), waiting };
    this.#last.set(stream, turn);
    void turn.done.then(() => {
      const last = this.#last.get(stream);
      if (last !== undefined) last.waiting--;
    });
  }

  async #handle(
    before: Promise<void> | undefined,
    stream: Duplex,
    { response, handle }: { readonly response: ServerResponse; readonly handle: () => Promise<void> },
  ): Promise<void> {
    await before;
    // The previous response may have been the last.
    if (stream.destroyed || stream.writableEnded) return;
    const over = Promise.withResolvers<void>();
    response.once("close", over.resolve);
    stream.once("close", over.resolve);
    try {
      await handle();
      await over.promise;
    } catch {
      stream.destroy();
    } finally {
      stream.off("close", over.resolve);
    }
  }
}
