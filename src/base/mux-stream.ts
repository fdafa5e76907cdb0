import { Duplex } from "node:stream";

/**
 * What travels on a byte channel that carries the connections of a sandbox from the server to the proxy: type (1 byte),
 * number of the connection (4), length of the payload (4), payload; numbers are big-endian.
 */
export const frameTypes = {
  /** To the proxy: a program has connected. */
  open: 1,
  data: 2,
  /** Nothing more follows in this direction. */
  end: 3,
  /** The connection ends immediately, in both directions. */
  reset: 4,
  /** That many bytes more may be sent: a number of 4 bytes. */
  credit: 5,
} as const;

export interface Frame {
  readonly type: number;
  readonly connection: number;
  readonly payload: Buffer;
}

/** Bytes of data that each end may send on a connection before the other grants more. */
export const firstCreditBytes = 262_144;
/** Longest payload. */
export const maxPayloadBytes = 65_536;
const headerBytes = 9;

export function encodeFrame(type: number, connection: number, payload: Uint8Array = Buffer.alloc(0)): Buffer {
  const frame = Buffer.allocUnsafe(headerBytes + payload.length);
  frame.writeUInt8(type, 0);
  frame.writeUInt32BE(connection, 1);
  frame.writeUInt32BE(payload.length, 5);
  frame.set(payload, headerBytes);
  return frame;
}

/**
 * Cuts a stream, fed piece by piece, into frames.
 * The result throws RangeError for bytes that are no frames; it never keeps more than one frame.
 */
export function createFrameReader(): (bytes: Uint8Array) => Frame[] {
  let rest: Buffer = Buffer.alloc(0);
  return (bytes) => {
    rest = rest.length === 0 ? Buffer.from(bytes) : Buffer.concat([rest, bytes]);
    const frames: Frame[] = [];
    while (rest.length >= headerBytes) {
      const type = rest.readUInt8(0);
      const size = rest.readUInt32BE(5);
      if (type < frameTypes.open || type > frameTypes.credit || size > maxPayloadBytes)
        throw new RangeError("not a frame");
      if (rest.length < headerBytes + size) break;
      frames.push({
        type,
        connection: rest.readUInt32BE(1),
        payload: rest.subarray(headerBytes, headerBytes + size),
      });
      rest = rest.subarray(headerBytes + size);
    }
    return frames;
  };
}

/** How a connection reaches its channel. */
export interface MuxStreamOptions {
  readonly connection: number;
  /** Takes a frame, and calls back when the channel wants more. */
  readonly send: (frame: Buffer, sent: () => void) => void;
  /** Time without a byte in either direction after which the connection is reset; null: it may stay idle. */
  readonly idleMs: number | null;
}

/** Data of one frame; small, so that connections take turns. */
const maxDataBytes = 32_768;
/** Credit is granted in portions of at least this. */
const creditPortionBytes = 65_536;

/** One connection on a channel, seen from outside the sandbox. */
export class MuxStream extends Duplex {
  readonly #options: MuxStreamOptions;
  readonly #idle: NodeJS.Timeout | undefined;
  #credit = firstCreditBytes;
  #creditGiven = firstCreditBytes;
  #received = 0;
  #waiting: { readonly bytes: Buffer; readonly done: () => void } | undefined;
  #ended = { here: false, there: false };
  #wasReset = false;

  constructor(options: MuxStreamOptions) {
    super({ allowHalfOpen: true });
    this.#options = options;
    if (options.idleMs !== null) this.#idle = setTimeout(() => this.destroy(), options.idleMs).unref();
  }

  /** Whether the far side has ended its direction. */
  get hasEnded(): boolean {
    return this.#ended.there;
  }

  /** @throws RangeError when the far side sends more than it was granted */
  receive(bytes: Buffer): void {
    this.#received += bytes.length;
    if (this.#received > this.#creditGiven || this.#ended.there) throw new RangeError("data beyond the credit");
    this.#idle?.refresh();
    this.push(bytes);
  }

  receiveEnd(): void {
    if (this.#ended.there) return;
    this.#ended.there = true;
    this.push(null);
  }

  receiveReset(): void {
    this.#wasReset = true;
    this.destroy();
  }

  receiveCredit(bytes: number): void {
    this.#credit = Math.min(this.#credit + bytes, 2 * firstCreditBytes);
    this.#flush();
  }

  /** Whatever way the consumer reads, it passes here or leaves nothing behind for `_read`, which stops asking while it does. */
  override read(size?: number): unknown {
    const bytes: unknown = super.read(size);
    this.#grant();
    return bytes;
  }

  override _read(): void {
    this.#grant();
  }

  #grant(): void {
    const consumed = this.#received - this.readableLength;
    const grant = consumed + firstCreditBytes - this.#creditGiven;
    if (grant < creditPortionBytes || this.#ended.there || this.destroyed) return;
    this.#creditGiven += grant;
    const payload = Buffer.alloc(4);
    payload.writeUInt32BE(grant);
    this.#send(frameTypes.credit, payload, () => undefined);
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#waiting = { bytes: chunk, done };
    this.#flush();
  }

  override _final(done: () => void): void {
    this.#ended.here = true;
    this.#send(frameTypes.end, undefined, done);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    clearTimeout(this.#idle);
    const isOver = this.#ended.here && this.#ended.there;
    if (!isOver && !this.#wasReset) this.#send(frameTypes.reset, undefined, () => undefined);
    this.#waiting = undefined;
    done(error);
  }

  #flush(): void {
    const { bytes, done } = this.#waiting ?? {};
    if (bytes === undefined || done === undefined || this.#credit === 0) return;
    const piece = bytes.subarray(0, Math.min(bytes.length, this.#credit, maxDataBytes));
    const rest = bytes.subarray(piece.length);
    this.#waiting = undefined;
    this.#credit -= piece.length;
    this.#idle?.refresh();
    this.#send(frameTypes.data, piece, () => {
      if (rest.length === 0) return done();
      this.#waiting = { bytes: rest, done };
      this.#flush();
    });
  }

  #send(type: number, payload: Uint8Array | undefined, sent: () => void): void {
    this.#options.send(encodeFrame(type, this.#options.connection, payload), sent);
  }
}
