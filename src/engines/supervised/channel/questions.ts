import type { GloveboxError } from "../../../errors/glovebox-error.ts";
import { ProtocolError } from "../frames/frame.ts";

/** One kind of question, asked one at a time: the supervisor answers what waits together. */
export class Question<T> {
  readonly #ask: () => void;
  /** Who waits for the answer that is on its way. */
  #asked: PromiseWithResolvers<T>[] = [];
  /** Who asked after it was: they are told what is found later. */
  #next: PromiseWithResolvers<T>[] = [];

  constructor(ask: () => void) {
    this.#ask = ask;
  }

  /** Whether somebody waits for an answer. */
  get isAsked(): boolean {
    return this.#asked.length > 0;
  }

  ask(): Promise<T> {
    const waiting = Promise.withResolvers<T>();
    waiting.promise.catch(() => {
      // Perhaps its caller has gone.
    });
    if (this.#asked.length > 0) {
      this.#next.push(waiting);
    } else {
      this.#asked.push(waiting);
      this.#ask();
    }
    return waiting.promise;
  }

  /** @throws ProtocolError for an answer that nobody asked for */
  answer(value: T): void {
    if (this.#asked.length === 0) throw new ProtocolError("an answer that nobody asked for");
    for (const { resolve } of this.#asked) resolve(value);
    this.#asked = this.#next;
    this.#next = [];
    if (this.#asked.length > 0) this.#ask();
  }

  /** There will be no more answers. */
  settle(end: { readonly value: T } | { readonly error: GloveboxError }): void {
    const all = [...this.#asked, ...this.#next];
    this.#asked = [];
    this.#next = [];
    for (const { resolve, reject } of all) {
      if ("value" in end) resolve(end.value);
      else reject(end.error);
    }
  }
}

/** Pings that were not answered. */
export class Pings {
  readonly #ask: (nonce: bigint) => void;
  /** Their numbers, the oldest first, and who waits for the answer. */
  readonly #unanswered = new Map<bigint, (() => void) | null>();
  readonly #rejects = new Set<(error: GloveboxError) => void>();
  #last = 0n;

  constructor(ask: (nonce: bigint) => void) {
    this.#ask = ask;
  }

  /** A ping whose answer nobody waits for. */
  send(): void {
    this.#last += 1n;
    this.#unanswered.set(this.#last, null);
    this.#ask(this.#last);
  }

  /** A ping; resolves with its answer. */
  ask(): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    promise.catch(() => {
      // Perhaps its caller has gone.
    });
    this.#last += 1n;
    this.#rejects.add(reject);
    this.#unanswered.set(this.#last, () => {
      this.#rejects.delete(reject);
      resolve();
    });
    this.#ask(this.#last);
    return promise;
  }

  /** An answer holds for all that was asked before. @throws ProtocolError for one without a question */
  answer(nonce: bigint): void {
    if (!this.#unanswered.has(nonce)) throw new ProtocolError("PONG that answers no PING");
    for (const [number, resolve] of this.#unanswered) {
      if (number > nonce) break;
      this.#unanswered.delete(number);
      resolve?.();
    }
  }

  lose(error: GloveboxError): void {
    for (const reject of this.#rejects) reject(error);
    this.#rejects.clear();
    this.#unanswered.clear();
  }
}
