import { fieldBytes, fieldsBytes, type FrameFields, type FrameLayout, type FrameName } from "./frame.ts";
import { frameLimits, frameTable } from "./frame-table.ts";

/** Where a frame belongs. */
export interface FrameAddress {
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
