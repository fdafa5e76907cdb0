import { readFrameTable } from "../../../scripts/supervisor-frames.ts";

const table = readFrameTable();

/** Limits of the protocol, by their names in `supervisor/frames.json`. */
export const limits: Readonly<Record<string, number>> = Object.fromEntries(
  Object.entries(table.limits).map(([name, { value }]) => [name, value]),
);

/** Numbers of the protocol: `SPAWN_INPUT`, `END_DONE`, `CODE_NONSENSE`. */
export const numbers: Readonly<Record<string, number>> = Object.fromEntries(
  table.enums.flatMap(({ prefix, values }) => values.map(([word, value]) => [`${prefix}_${word}`, value] as const)),
);

const bytesOf = { u8: 1, u16: 2, u32: 4, u64: 8 } as const;

/** One frame, decoded. */
export interface Frame {
  readonly name: string;
  readonly stream: number;
  readonly epoch: number;
  /** Fields by name; those of 64 bits are numbers too, all ones become Infinity. */
  readonly fields: Readonly<Record<string, number>>;
  readonly tail: Buffer;
}

/** A frame's bytes. A field that is not given is 0. */
export function encodeFrame(
  name: string,
  stream: number,
  fields: Readonly<Record<string, number>> = {},
  { tail = Buffer.alloc(0), epoch = 1 }: { readonly tail?: Uint8Array; readonly epoch?: number } = {},
): Buffer {
  const frame = table.frames.find((each) => each.name === name);
  if (frame === undefined) throw new Error(`no frame ${name}`);
  const parts = frame.fields.map(([field, kind]) => {
    const bytes = Buffer.alloc(bytesOf[kind]);
    if (kind === "u64") bytes.writeBigUInt64LE(BigInt(fields[field] ?? 0));
    else bytes.writeUIntLE(fields[field] ?? 0, 0, bytesOf[kind]);
    return bytes;
  });
  return rawFrame(frame.type, stream, Buffer.concat([...parts, tail]), epoch);
}

/** A frame of any type and payload. */
export function rawFrame(type: number, stream: number, payload: Uint8Array, epoch = 1): Buffer {
  const header = Buffer.alloc(12);
  header.writeUInt32LE(payload.length, 0);
  header.writeUInt8(type, 4);
  header.writeUInt16LE(epoch, 6);
  header.writeUInt32LE(stream, 8);
  return Buffer.concat([header, payload]);
}

/** Takes the whole frames from the front of some bytes; throws at what the supervisor must never send. */
export function takeFrames(bytes: Buffer): { readonly frames: readonly Frame[]; readonly rest: Buffer } {
  const frames: Frame[] = [];
  let at = 0;
  while (bytes.length - at >= 12) {
    const length = bytes.readUInt32LE(at);
    if (length > (limits["maxPayloadBytes"] ?? 0)) throw new Error(`a frame of ${length} bytes`);
    if (bytes.length - at - 12 < length) break;
    frames.push(decode(bytes.subarray(at, at + 12 + length)));
    at += 12 + length;
  }
  return { frames, rest: bytes.subarray(at) };
}

function decode(bytes: Buffer): Frame {
  const type = bytes.readUInt8(4);
  const frame = table.frames.find((each) => each.type === type && each.from !== "host");
  if (frame === undefined) throw new Error(`a frame of type ${type}`);
  const fields: Record<string, number> = {};
  let at = 12;
  for (const [field, kind] of frame.fields) {
    const value = kind === "u64" ? bytes.readBigUInt64LE(at) : BigInt(bytes.readUIntLE(at, bytesOf[kind]));
    fields[field] = value === 0xffff_ffff_ffff_ffffn ? Infinity : Number(value);
    at += bytesOf[kind];
  }
  if (frame.tail === undefined && at !== bytes.length) throw new Error(`${frame.name} of ${bytes.length} bytes`);
  return {
    name: frame.name,
    stream: bytes.readUInt32LE(8),
    epoch: bytes.readUInt16LE(6),
    fields,
    tail: Buffer.from(bytes.subarray(at)),
  };
}
