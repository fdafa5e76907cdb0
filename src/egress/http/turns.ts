import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

/** Requests that a client may send before the first of them is answered; hardly any client sends a second one. */
const maxWaiting = 8;
/** What a client that went wrong is given to take what it was told. */
const lastWordsMs = 1_000;

/**
 * Lets the requests of one connection be handled one after another, however many were sent at once: each may take a
 * connection to a far side. One that sends too many, or whose handling throws, loses its connection.
 */
export class Turns {
  readonly #last = new WeakMap<Duplex, { readonly done: Promise<void>; waiting: number }>();
  readonly #ending = new WeakSet<Duplex>();

  /** Whether a request of the connection is being handled. */
  isTaken(stream: Duplex): boolean {
    return (this.#last.get(stream)?.waiting ?? 0) > 0;
  }

  /** Ends the connection when the answer under way had its time; what follows on it is nobody's request. */
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
    // The answer before may have been the last.
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
