import { frameTable, frameLimits } from "./frame-table.ts";

/** Name of a frame, as `supervisor/frames.json` has it. */
export type FrameName = keyof typeof frameTable;

/** Frames that the host may send. */
export type HostFrameName = NamesFrom<"host" | "both">;

/** Frames that the supervisor may send. */
export type SupervisorFrameName = NamesFrom<"supervisor" | "both">;

type NamesFrom<Side> = {
  [Name in FrameName]: (typeof frameTable)[Name]["from"] extends Side ? Name : never;
}[FrameName];

type FieldTypes<Name extends FrameName> = (typeof frameTable)[Name]["fields"];

/** Fields of a frame without those that are always zero; a number of 64 bits is a `bigint`. */
export type FrameFields<Name extends FrameName> = {
  readonly [
    Field in keyof FieldTypes<Name> as Field extends "zero" ? never : Field
  ]: FieldTypes<Name>[Field] extends "u64" ? bigint : number;
} & ((typeof frameTable)[Name]["tail"] extends true ? { readonly tail: Uint8Array } : unknown);

/** A frame with one of these names. */
export type FrameOf<Name extends FrameName> = {
  [Each in Name]: { readonly name: Each; readonly stream: number; readonly fields: FrameFields<Each> };
}[Name];

/** What the supervisor has said. */
export type SupervisorFrame = FrameOf<SupervisorFrameName>;

/** Bytes of a field. */
const fieldBytes = { u8: 1, u16: 2, u32: 4, u64: 8 } as const;

/** How a frame is laid out, for code that goes through its fields. */
export interface FrameLayout {
  readonly type: number;
  readonly from: "host" | "supervisor" | "both";
  readonly stream: "zero" | "new" | "live" | "liveOrZero" | "any";
  readonly fields: Readonly<Record<string, keyof typeof fieldBytes>>;
  readonly tail: boolean;
}

/** Bytes of a frame's fields. */
export function fieldsBytes({ fields }: FrameLayout): number {
  return Object.values(fields).reduce((sum, kind) => sum + fieldBytes[kind], 0);
}

/** What the other end sent does not fit the protocol: it is a liar, or broken, and is not believed any more. */
export class ProtocolError extends Error {
  override readonly name = "ProtocolError";
}

/** Where a frame belongs. */
interface FrameAddress {
  /** Number of this start of the sandbox, 16 bits. */
  readonly epoch: number;
  /** 0: the sandbox itself. */
  readonly stream: number;
}

/** A frame as it travels. @throws RangeError for a value that its field cannot hold, and for a payload that is too long */
export function encodeFrame<Name extends FrameName>(
  name: Name,
  { epoch, stream }: FrameAddress,
  values: FrameFields<Name>,
): Buffer {
  const layout: FrameLayout = frameTable[name];
  const given = values as Readonly<Record<string, number | bigint>> & { readonly tail?: Uint8Array };
  const tail = layout.tail ? given.tail : undefined;
  const payloadBytes = fieldsBytes(layout) + (tail?.length ?? 0);
  if (payloadBytes > frameLimits.maxPayloadBytes) {
    throw new RangeError(
      `${name}: expected a payload of at most ${frameLimits.maxPayloadBytes} bytes, got ${payloadBytes}`,
    );
  }
  const frame = Buffer.allocUnsafe(frameLimits.headerBytes + payloadBytes);
  frame.writeUInt32LE(payloadBytes, 0);
  frame.writeUInt8(layout.type, 4);
  frame.writeUInt8(0, 5);
  frame.writeUInt16LE(epoch, 6);
  frame.writeUInt32LE(stream, 8);
  let at: number = frameLimits.headerBytes;
  for (const [field, kind] of Object.entries(layout.fields)) {
    const value = field === "zero" ? 0 : given[field];
    if (kind === "u64") frame.writeBigUInt64LE(BigInt(value ?? 0), at);
    else frame.writeUIntLE(Number(value), at, fieldBytes[kind]);
    at += fieldBytes[kind];
  }
  if (tail !== undefined) frame.set(tail, at);
  return frame;
}

const { headerBytes, maxPayloadBytes } = frameLimits;

interface KnownFrame extends FrameLayout {
  readonly name: FrameName;
  readonly fieldsBytes: number;
}

type Sender = "host" | "supervisor";

interface Header {
  readonly frame: KnownFrame;
  readonly stream: number;
  readonly payloadBytes: number;
}

/**
 * Cuts bytes, fed piece by piece, into the frames of one sender. Strict: what does not fit throws, and nothing is read after it.
 * Holds at most one frame, of at most 64 KiB, and that much only as its bytes come.
 */
export class FrameReader<Name extends FrameName> {
  readonly #known: ReadonlyMap<number, KnownFrame>;
  readonly #epoch: number | null;
  /** A frame of which not all has come, its header first. */
  #partial: Buffer[] = [];
  #partialBytes = 0;

  /** `epoch` null: any. */
  constructor(from: Sender, epoch: number | null) {
    this.#known = framesFrom(from);
    this.#epoch = epoch;
  }

  /** Whether the bytes so far end in the middle of a frame. */
  get isWithinFrame(): boolean {
    return this.#partialBytes > 0;
  }

  /**
   * Gives each frame to `receive`, as soon as it is whole; its tail may lie in the memory of `bytes`.
   * @throws ProtocolError for what is no frame of the sender's, and what `receive` throws
   */
  read(bytes: Buffer, receive: (frame: FrameOf<Name>) => void): void {
    let rest = bytes;
    while (this.#partialBytes + rest.length >= headerBytes) {
      const header = this.#headerOf(rest);
      const missing = headerBytes + header.payloadBytes - this.#partialBytes;
      if (rest.length < missing) break;
      const frame = this.#take(rest.subarray(0, missing));
      rest = rest.subarray(missing);
      receive(decode(header, frame.subarray(headerBytes)) as FrameOf<Name>);
    }
    if (rest.length > 0) this.#keep(rest);
  }

  #headerOf(next: Buffer): Header {
    const [first] = this.#partial;
    if (first === undefined) return this.#judge(next);
    if (first.length >= headerBytes) return this.#judge(first);
    // What is kept is one piece, shorter than a header.
    return this.#judge(Buffer.concat([first, next.subarray(0, headerBytes)]));
  }

  #judge(header: Buffer): Header {
    const payloadBytes = header.readUInt32LE(0);
    const frame = this.#known.get(header.readUInt8(4));
    const stream = header.readUInt32LE(8);
    if (frame === undefined) throw new ProtocolError(`frame of unknown type ${header.readUInt8(4)}`);
    if (header.readUInt8(5) !== 0)
      throw new ProtocolError(`${frame.name} with a header that is not zero where it must be`);
    if (this.#epoch !== null && header.readUInt16LE(6) !== this.#epoch)
      throw new ProtocolError(`${frame.name} of another epoch`);
    const fits = frame.tail ? payloadBytes >= frame.fieldsBytes : payloadBytes === frame.fieldsBytes;
    if (!fits || payloadBytes > maxPayloadBytes) throw new ProtocolError(`${frame.name} with ${payloadBytes} bytes`);
    if ((frame.stream === "zero") !== (stream === 0) && frame.stream !== "liveOrZero") {
      throw new ProtocolError(`${frame.name} on stream ${stream}`);
    }
    return { frame, stream, payloadBytes };
  }

  #take(next: Buffer): Buffer {
    if (this.#partialBytes === 0) return next;
    const frame = Buffer.concat([...this.#partial, next]);
    this.#partial = [];
    this.#partialBytes = 0;
    return frame;
  }

  #keep(bytes: Buffer): void {
    // A copy: the chunk may be large, and small pieces of many would be kept with all of them.
    this.#partial.push(Buffer.from(bytes));
    this.#partialBytes += bytes.length;
    const [first] = this.#partial;
    // The first piece has the header, as soon as there is one.
    if (this.#partial.length > maxPieces || (first?.length ?? 0) < headerBytes) {
      this.#partial = [Buffer.concat(this.#partial)];
    }
  }
}

/** Pieces of one frame that are kept apart: a frame that comes byte by byte costs no more memory than itself. */
const maxPieces = 64;

function decode({ frame, stream }: Header, payload: Buffer): FrameOf<FrameName> {
  const fields: Record<string, number | bigint | Buffer> = {};
  let at = 0;
  for (const [field, kind] of Object.entries(frame.fields)) {
    const value = kind === "u64" ? payload.readBigUInt64LE(at) : payload.readUIntLE(at, fieldBytes[kind]);
    at += fieldBytes[kind];
    if (field !== "zero") fields[field] = value;
    else if (value !== 0) throw new ProtocolError(`${frame.name} with a field that is not zero where it must be`);
  }
  if (frame.tail) fields["tail"] = payload.subarray(at);
  return { name: frame.name, stream, fields } as unknown as FrameOf<FrameName>;
}

function framesFrom(from: Sender): ReadonlyMap<number, KnownFrame> {
  const frames = Object.entries(frameTable) as [FrameName, FrameLayout][];
  return new Map(
    frames
      .filter(([, layout]) => layout.from === from || layout.from === "both")
      .map(([name, layout]) => [layout.type, { ...layout, name, fieldsBytes: fieldsBytes(layout) }]),
  );
}
