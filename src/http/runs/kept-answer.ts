import { promisify } from "node:util";
import { constants, deflate, inflate } from "node:zlib";
import { kibibyte } from "../../base/bytes.ts";
import type { WireAnswer } from "../server/wire-answer.ts";

const compress = promisify(deflate);
const decompress = promisify(inflate);

/** Shorter ones, in characters, take hardly any memory. */
const packedFrom = 16 * kibibyte;

/**
 * The answer of a run, which is kept for a while after its end: what a program prints without end compresses to a
 * hundredth, and only whoever asks for it once more pays for that.
 */
export class KeptAnswer {
  readonly isError: boolean;
  readonly #head: Omit<WireAnswer, "body">;
  #body: string | Buffer;
  #packing: Promise<void> | undefined;

  constructor({ body, ...head }: WireAnswer) {
    this.#head = head;
    this.#body = body;
    this.isError = head.isError;
  }

  /** What is held of it: characters, or bytes once it is packed. */
  get size(): number {
    return this.#body.length;
  }

  async read(): Promise<WireAnswer> {
    const held = this.#body;
    const body = typeof held === "string" ? held : (await decompress(held)).toString("utf8");
    return { ...this.#head, body };
  }

  /** Compresses a long one, off the main thread; those who read it meanwhile have it at once. Never rejects. */
  pack(): Promise<void> {
    this.#packing ??= this.#pack().catch(() => {
      // It stays as it is: there is no memory to compress it in.
    });
    return this.#packing;
  }

  async #pack(): Promise<void> {
    const body = this.#body;
    if (typeof body !== "string" || body.length < packedFrom) return;
    const packed = await compress(body, { level: constants.Z_BEST_SPEED });
    if (packed.length < body.length) this.#body = packed;
  }
}
