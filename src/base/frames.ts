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
