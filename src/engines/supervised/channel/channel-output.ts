import type { OutputChunk, OutputStream } from "../../engine.ts";
import { frameLimits } from "../frames/frame-table.ts";
import { ProtocolError } from "../frames/frame.ts";

/** A piece is not appended to beyond this. */
const fullPieceBytes = 16_384;
const firstPieceBytes = 512;
/** With more pieces than these, what comes is appended to the newest piece of its own stream. */
const maxPieces = 64;

/** What is kept at most for a consumer that holds nothing up: more than any pipe has. */
const maxFreeBytes = 4_194_304;

interface Piece {
  readonly stream: OutputStream;
  memory: Buffer;
  length: number;
}

/**
 * What a stream of the supervisor's has said and its one consumer has not taken. It copies, so that a byte does not keep the
 * frame that it came in, and joins, so that a flood of tiny frames takes little more memory than its bytes. The bytes are
 * bounded by the stream's window. Of two streams each keeps its order; with each other they keep it as long as few pieces wait.
 */
export class OutputPieces implements AsyncIterable<OutputChunk> {
  readonly #onConsumed: (bytes: number) => void;
  readonly #onReadable: () => void;
  #pieces: Piece[] = [];
  #isEnded = false;
  #isDiscarding = false;
  #isFree = false;
  #bytes = 0;
  #receivedBytes = 0;
  readonly #whenEnded = Promise.withResolvers<void>();
  #waiting: ((result: IteratorResult<OutputChunk, undefined>) => void)[] = [];

  /** `onConsumed` is told of bytes that are held no longer; `onReadable` that something came, or the end. */
  constructor(onConsumed: (bytes: number) => void, onReadable: () => void = () => undefined) {
    this.#onConsumed = onConsumed;
    this.#onReadable = onReadable;
  }

  /** Bytes that have come, those that were dropped included. */
  get receivedBytes(): number {
    return this.#receivedBytes;
  }

  /** Resolves when nothing more is taken in. */
  get whenEnded(): Promise<void> {
    return this.#whenEnded.promise;
  }

  /** Whether nothing more comes, and all has been taken. */
  get isOver(): boolean {
    return this.#isDiscarding || (this.#isEnded && this.#pieces.length === 0);
  }

  push(stream: OutputStream, bytes: Uint8Array): void {
    this.#receivedBytes += bytes.length;
    const isTooMuch = this.#isFree && this.#bytes + bytes.length > maxFreeBytes;
    if (this.#isEnded || this.#isDiscarding || isTooMuch) return this.#onConsumed(bytes.length);
    this.#append(stream, bytes);
    this.#bytes += bytes.length;
    if (this.#isFree) this.#onConsumed(bytes.length);
    const waiting = this.#waiting.shift();
    if (waiting === undefined) return this.#onReadable();
    const chunk = this.take();
    waiting(chunk === undefined ? { value: undefined, done: true } : { value: chunk, done: false });
  }

  /** The oldest piece, if there is one. */
  take(): OutputChunk | undefined {
    const piece = this.#pieces.shift();
    if (piece === undefined) return undefined;
    this.#bytes -= piece.length;
    if (!this.#isFree) this.#onConsumed(piece.length);
    return { stream: piece.stream, bytes: piece.memory.subarray(0, piece.length) };
  }

  /**
   * A consumer that is slow holds nothing up any more: what comes is kept for it, up to 4 MiB, and dropped beyond. For
   * what is ending, of which no more can come than its pipes have.
   */
  letGo(): void {
    if (this.#isFree) return;
    this.#isFree = true;
    if (this.#bytes > 0) this.#onConsumed(this.#bytes);
  }

  /** What waits can still be taken. */
  end(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#whenEnded.resolve();
    for (const waiting of this.#waiting.splice(0)) waiting({ value: undefined, done: true });
    this.#onReadable();
  }

  /** Nobody takes any more: what waits and what comes is dropped, so that it holds nothing up. */
  discard(): void {
    this.#isDiscarding = true;
    const bytes = this.#bytes;
    this.#pieces = [];
    this.#bytes = 0;
    if (bytes > 0 && !this.#isFree) this.#onConsumed(bytes);
    for (const waiting of this.#waiting.splice(0)) waiting({ value: undefined, done: true });
  }

  [Symbol.asyncIterator](): AsyncIterator<OutputChunk, undefined> {
    return {
      next: () => this.#next(),
      return: () => {
        this.discard();
        return Promise.resolve({ value: undefined, done: true });
      },
    };
  }

  #next(): Promise<IteratorResult<OutputChunk, undefined>> {
    const chunk = this.take();
    if (chunk !== undefined) return Promise.resolve({ value: chunk, done: false });
    if (this.isOver) return Promise.resolve({ value: undefined, done: true });
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  #append(stream: OutputStream, bytes: Uint8Array): void {
    const last = this.#pieces.at(-1);
    if (last?.stream === stream && last.length + bytes.length <= fullPieceBytes) return extend(last, bytes);
    const own = this.#pieces.length < maxPieces ? undefined : this.#pieces.findLast((piece) => piece.stream === stream);
    if (own !== undefined) return extend(own, bytes);
    const memory = Buffer.allocUnsafeSlow(Math.max(firstPieceBytes, bytes.length));
    memory.set(bytes);
    this.#pieces.push({ stream, memory, length: bytes.length });
  }
}

/** How much output may be unacknowledged. */
export interface WindowSizes {
  /** Of one stream, in bytes. */
  readonly streamBytes: number;
  /** Of all streams together, in bytes. */
  readonly totalBytes: number;
}

/**
 * The largest windows with which no stream can hold up another: all streams together fit into the total, so that programs whose
 * output nobody reads stop themselves and nothing else.
 */
export const fairWindows: WindowSizes = {
  streamBytes: frameLimits.maxOutputWindowBytes / frameLimits.maxStreams,
  totalBytes: frameLimits.maxOutputWindowBytes,
};

/** Consumed bytes are given back when they are this part of a window. */
const creditPart = 4;

interface Held {
  /** By the supervisor's account: sent and not given back. */
  outstanding: number;
  /** Of these, consumed. */
  consumed: number;
}

/** What the supervisor may send, and what it is given back. */
export class OutputWindows {
  readonly #sizes: WindowSizes;
  readonly #giveBack: (stream: number, bytes: number) => void;
  readonly #streams = new Map<number, Held>();
  #outstanding = 0;
  #consumed = 0;

  constructor(sizes: WindowSizes, giveBack: (stream: number, bytes: number) => void) {
    this.#sizes = sizes;
    this.#giveBack = giveBack;
  }

  open(stream: number): void {
    this.#streams.set(stream, { outstanding: 0, consumed: 0 });
  }

  /** @throws ProtocolError for more than a window holds */
  receive(stream: number, bytes: number): void {
    const held = this.#streams.get(stream);
    if (held === undefined) throw new ProtocolError(`output of stream ${stream}, which is not live`);
    if (bytes === 0) throw new ProtocolError("output without a byte");
    held.outstanding += bytes;
    this.#outstanding += bytes;
    if (held.outstanding > this.#sizes.streamBytes) throw new ProtocolError("output beyond the stream's window");
    if (this.#outstanding > this.#sizes.totalBytes) throw new ProtocolError("output beyond the total window");
  }

  /** Bytes of a stream that are held no longer. */
  consume(stream: number, bytes: number): void {
    const held = this.#streams.get(stream);
    // Of one that has ended all was given back.
    if (held === undefined || bytes === 0) return;
    held.consumed += bytes;
    this.#consumed += bytes;
    if (held.consumed >= this.#sizes.streamBytes / creditPart) this.#return(stream, held);
    // Small rests of many streams must not use the total up.
    else if (this.#consumed >= this.#sizes.totalBytes / creditPart) {
      for (const [number, each] of this.#streams) this.#return(number, each);
    }
  }

  /** The stream has ended: what its consumer has not taken is its consumer's, and no longer in the way of others. */
  close(stream: number): void {
    const held = this.#streams.get(stream);
    if (held === undefined) return;
    this.#streams.delete(stream);
    this.#consumed += held.outstanding - held.consumed;
    held.consumed = held.outstanding;
    this.#return(stream, held);
  }

  #return(stream: number, held: Held): void {
    const bytes = held.consumed;
    if (bytes === 0) return;
    held.outstanding -= bytes;
    held.consumed = 0;
    this.#outstanding -= bytes;
    this.#consumed -= bytes;
    this.#giveBack(stream, bytes);
  }
}

function extend(piece: Piece, bytes: Uint8Array): void {
  const length = piece.length + bytes.length;
  if (length > piece.memory.length) {
    const larger = Buffer.allocUnsafeSlow(Math.max(length, 2 * piece.memory.length));
    piece.memory.copy(larger, 0, 0, piece.length);
    piece.memory = larger;
  }
  piece.memory.set(bytes, piece.length);
  piece.length = length;
}
