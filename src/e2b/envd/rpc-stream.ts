import { ConnectError } from "../refusal.ts";
import { once } from "node:events";
import type { ServerResponse } from "node:http";

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

const defaultPingMs = 90_000;

/** An answer of many messages, each sent at once; a sign of life goes where nothing else does. */
export class EventStream {
  readonly #response: ServerResponse;
  readonly #pingMs: number;
  readonly #toMessage: (event: object) => object;
  #ping: NodeJS.Timeout | undefined;

  /** `pingSeconds`: what the client asks for; `toMessage`: how the method's message has an event. */
  constructor(
    response: ServerResponse,
    pingSeconds: unknown,
    toMessage: (event: object) => object = (event) => ({ event }),
  ) {
    this.#response = response;
    this.#toMessage = toMessage;
    const seconds = typeof pingSeconds === "string" && /^\d{1,4}$/.test(pingSeconds) ? Number(pingSeconds) : 0;
    this.#pingMs = seconds === 0 ? defaultPingMs : seconds * 1000;
    response.once("close", () => clearTimeout(this.#ping));
    response.writeHead(200, { "content-type": "application/connect+json" });
    response.flushHeaders();
    this.#pingLater();
  }

  /** Resolves when the client takes more, or is gone. */
  async send(event: object): Promise<void> {
    const response = this.#response;
    if (response.destroyed || response.writableEnded) return;
    this.#pingLater();
    if (!response.write(envelope(this.#toMessage(event)))) {
      await Promise.race([once(response, "drain"), once(response, "close")]).catch(() => undefined);
    }
  }

  end(error: ConnectError | null): void {
    clearTimeout(this.#ping);
    if (!this.#response.destroyed) this.#response.end(lastEnvelope(error));
  }

  /** The sandbox is gone: the client is to ask for its health. */
  cut(): void {
    this.#response.destroy();
  }

  #pingLater(): void {
    clearTimeout(this.#ping);
    this.#ping = setTimeout(() => void this.send({ keepalive: {} }), this.#pingMs).unref();
  }
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
