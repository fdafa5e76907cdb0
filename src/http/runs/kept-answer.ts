import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { constants, createDeflate, inflate } from "node:zlib";
import { kibibyte } from "../../base/bytes.ts";
import { LongJson, type WireAnswer } from "../server/wire-answer.ts";

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
  #body: WireAnswer["body"] | Buffer;
  #packing: Promise<void> | undefined;

  constructor({ body, ...head }: WireAnswer) {
    this.#head = head;
    this.#body = body;
    this.isError = head.isError;
  }

  /** What is held of it: characters, or bytes of a long one and once it is packed. */
  get size(): number {
    return sizeOf(this.#body);
  }

  async read(): Promise<WireAnswer> {
    const held = this.#body;
    return { ...this.#head, body: Buffer.isBuffer(held) ? (await decompress(held)).toString("utf8") : held };
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
    if (Buffer.isBuffer(body) || sizeOf(body) < packedFrom) return;
    const parts = typeof body === "string" ? [body] : body.parts();
    const deflate = createDeflate({ level: constants.Z_BEST_SPEED });
    const [packed] = await Promise.all([buffer(deflate), pipeline(Readable.from(parts), deflate)]);
    if (packed.length < sizeOf(body)) this.#body = packed;
  }
}

function sizeOf(body: WireAnswer["body"] | Buffer): number {
  return typeof body === "string" ? body.length : body instanceof LongJson ? body.byteLength : body.length;
}
