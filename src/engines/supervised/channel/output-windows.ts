import { frameLimits } from "../frames/frame-table.ts";
import { ProtocolError } from "../frames/frame.ts";

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
