/** What the first bytes of a TLS connection say. */
export type ClientHello =
  | { readonly kind: "incomplete" }
  | { readonly kind: "invalid" }
  /** The server name in lower case; null when there is none. */
  | { readonly kind: "hello"; readonly serverName: string | null };

const handshakeRecord = 22;
const clientHelloMessage = 1;
const serverNameExtension = 0;
const hostNameType = 0;
const maxRecordBytes = 16_384;
/** Hellos with post-quantum keys take about 2 KiB. */
const maxHelloBytes = 65_536;

const incomplete: ClientHello = { kind: "incomplete" };
const invalid: ClientHello = { kind: "invalid" };

/** Reads the hello of a TLS client as far as the bytes go; never waits for more than 64 KiB. */
export function readClientHello(bytes: Uint8Array): ClientHello {
  const message: number[] = [];
  let at = 0;
  for (;;) {
    if (bytes.length > at && bytes[at] !== handshakeRecord) return invalid;
    if (bytes.length > at + 1 && bytes[at + 1] !== 3) return invalid;
    if (bytes.length < at + 5) return incomplete;
    const size = ((bytes[at + 3] ?? 0) << 8) | (bytes[at + 4] ?? 0);
    if (size === 0 || size > maxRecordBytes) return invalid;
    const end = at + 5 + size;
    message.push(...bytes.subarray(at + 5, end));
    if (message.length > 0 && message[0] !== clientHelloMessage) return invalid;
    const needed = message.length < 4 ? null : 4 + readNumber(message, 1, 3);
    if (needed !== null && needed > maxHelloBytes) return invalid;
    if (needed !== null && message.length >= needed) return parseHello(message.slice(4, needed));
    if (bytes.length < end) return incomplete;
    at = end;
  }
}

function parseHello(body: readonly number[]): ClientHello {
  try {
    const reader = new Reader(body);
    reader.skip(2 + 32);
    reader.skip(reader.number(1));
    reader.skip(reader.number(2));
    reader.skip(reader.number(1));
    if (reader.isAtEnd) return { kind: "hello", serverName: null };
    const extensions = new Reader(reader.take(reader.number(2)));
    let serverName: string | null = null;
    while (!extensions.isAtEnd) {
      const type = extensions.number(2);
      const content = extensions.take(extensions.number(2));
      if (type !== serverNameExtension) continue;
      // Two of them: which one the server reads is its own affair.
      if (serverName !== null) return invalid;
      serverName = readServerName(content);
    }
    return { kind: "hello", serverName };
  } catch (error) {
    if (error instanceof RangeError) return invalid;
    throw error;
  }
}

/** @throws RangeError unless the list holds exactly one host name */
function readServerName(content: readonly number[]): string {
  const outer = new Reader(content);
  const list = new Reader(outer.take(outer.number(2)));
  const type = list.number(1);
  const name = list.take(list.number(2));
  if (type !== hostNameType || name.length === 0 || !list.isAtEnd || !outer.isAtEnd) throw new RangeError();
  return String.fromCharCode(...name).toLowerCase();
}

/** Reads a list of bytes from its front. Every method throws RangeError for what is not there. */
class Reader {
  readonly #bytes: readonly number[];
  #at = 0;

  constructor(bytes: readonly number[]) {
    this.#bytes = bytes;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  take(count: number): readonly number[] {
    this.skip(count);
    return this.#bytes.slice(this.#at - count, this.#at);
  }

  skip(count: number): void {
    this.#at += count;
    if (this.#at > this.#bytes.length) throw new RangeError();
  }

  number(width: number): number {
    return readNumber(this.take(width), 0, width);
  }
}

function readNumber(bytes: readonly number[], at: number, width: number): number {
  return bytes.slice(at, at + width).reduce((value, byte) => value * 256 + byte, 0);
}
