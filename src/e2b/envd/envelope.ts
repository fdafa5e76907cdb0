import { ConnectError } from "./connect-error.ts";

/** Flags of an envelope. */
const compressed = 1;
const lastOne = 2;
/** Flags and length. */
const headBytes = 5;

/**
 * The message of a body that is one envelope, which ends where it says.
 * @throws ConnectError for another length, several envelopes, unknown flags and compression
 */
export function parseEnvelope(body: Uint8Array): Uint8Array {
  if (body.length < headBytes) throw bad(`expected one envelope, got ${body.length} bytes`);
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  const flags = view.getUint8(0);
  if ((flags & compressed) !== 0) throw new ConnectError("unimplemented", "body: compressed envelopes are not served");
  if (flags !== 0) throw bad(`expected an envelope with the flags 0, got ${flags}`);
  const length = view.getUint32(1);
  if (length !== body.length - headBytes) {
    throw bad(`expected an envelope of ${body.length - headBytes} bytes, got the length ${length}`);
  }
  return body.subarray(headBytes);
}

/** One message of a stream. */
export function envelope(message: unknown): Buffer {
  return framed(0, message);
}

/** The end of a stream, with its error if it has one. */
export function lastEnvelope(error: ConnectError | null): Buffer {
  return framed(lastOne, error === null ? {} : { error: error.toWire() });
}

function framed(flags: number, message: unknown): Buffer {
  const bytes = Buffer.from(JSON.stringify(message));
  const head = Buffer.alloc(headBytes);
  head.writeUInt8(flags, 0);
  head.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
}

function bad(message: string): ConnectError {
  return new ConnectError("invalid_argument", `body: ${message}`);
}
