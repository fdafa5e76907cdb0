/** Bytes of one of a program's streams. */
export interface Frame {
  readonly stream: "stdout" | "stderr";
  readonly bytes: Buffer;
}

const headerBytes = 8;

/** Splits Docker's frames: a header of eight bytes gives the stream and the length of what follows. */
export async function* framesOf(source: AsyncIterable<unknown>): AsyncGenerator<Frame> {
  let rest: Buffer = Buffer.alloc(0);
  let left = 0;
  let stream: Frame["stream"] = "stdout";
  for await (const chunk of source) {
    rest = rest.length === 0 ? (chunk as Buffer) : Buffer.concat([rest, chunk as Buffer]);
    while (rest.length > 0) {
      if (left === 0) {
        if (rest.length < headerBytes) break;
        stream = rest[0] === 2 ? "stderr" : "stdout";
        left = rest.readUInt32BE(4);
        rest = rest.subarray(headerBytes);
        continue;
      }
      const bytes = rest.subarray(0, left);
      left -= bytes.length;
      rest = rest.subarray(bytes.length);
      yield { stream, bytes };
    }
  }
}
