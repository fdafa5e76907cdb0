/** Header fields in their order, each a name and a value. */
export type Fields = readonly (readonly [name: string, value: string])[];

/** How the body of a message is framed. */
export type Framing =
  | { readonly kind: "none" }
  | { readonly kind: "length"; readonly bytes: number }
  | { readonly kind: "chunked" };

/** The parts of a message's head to pass on. */
export interface MessageHead {
  /** End-to-end fields, without those that define routing or the body's framing. */
  readonly fields: Fields;
  readonly framing: Framing;
}

/** Maximum bytes of a head in either direction: most take 2 KiB; with cookies some more. */
export const maxHeadBytes = 32_768;
const maxFields = 256;
const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Text allowed in a field's value or a reason phrase: nothing that ends a line or controls a terminal. */
export const lineText: RegExp = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Far below the limit of exact integers. */
const length = /^\d{1,15}$/;

/** Hop-by-hop fields (RFC 9110, 7.6.1), or fields for the proxy itself; we set them again where needed. */
const hopByHop = new Set([
  ...["connection", "keep-alive", "te", "upgrade", "http2-settings", "trailer", "transfer-encoding", "content-length"],
  ...["proxy-connection", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization"],
]);
/** Of these what the connection's field may name: they go no further in any case. Clients must name the first three. */
const nominable = new Set(["te", "upgrade", "http2-settings", "keep-alive", "proxy-connection", "close"]);
/** Other fields that define routing or framing. */
const routing = new Set(["host", "expect", "via", "forwarded", "max-forwards"]);

/**
 * Checks the names and values that a parser found in a message's head.
 *
 * The framing is decided here once and rewritten when the message is passed on, so that no two readers can disagree
 * about the end of its body. A string is an error, as a phrase that follows "The head".
 */
export function readHead(rawHeaders: readonly string[], version: string): MessageHead | string {
  if (version !== "1.1" && version !== "1.0") return "is of another version than HTTP/1.1 or 1.0";
  const all: Fields = rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? ""] as const] : [],
  );
  if (all.length > maxFields) return `has more than ${maxFields} fields`;
  if (all.some(([name]) => !token.test(name))) return "has a field whose name is not one";
  if (!all.every(([, value]) => lineText.test(value))) return "has a field with a control character";
  const framing = framingOf(all, version);
  if (typeof framing === "string") return framing;
  const named = valuesOf(all, "connection").flatMap((value) => value.split(",").map(canonical));
  const nominated = named.find((name) => !nominable.has(name) && isOurs(name));
  if (nominated !== undefined)
    return `has a Connection field that names ${nominated}, which is not for a client to drop`;
  const dropped = new Set([...hopByHop, ...named]);
  return { fields: all.filter(([name]) => !dropped.has(canonical(name))), framing };
}

/** The fields that frame a body, for the sender to write. */
export function framingFields(framing: Framing): Fields {
  if (framing.kind === "none") return [];
  return framing.kind === "chunked" ? [["Transfer-Encoding", "chunked"]] : [["Content-Length", String(framing.bytes)]];
}

/** Alternating names and values, as Node takes them. */
export function flatten(...parts: readonly Fields[]): string[] {
  return parts.flatMap((fields) => fields.flat());
}

/** Values of all fields with that name. */
export function valuesOf(fields: Fields, name: string): readonly string[] {
  return fields.flatMap(([each, value]) => (canonical(each) === name ? [value] : []));
}

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

function isOurs(name: string): boolean {
  return hopByHop.has(name) || routing.has(name) || name.startsWith("proxy-");
}

function framingOf(fields: Fields, version: string): Framing | string {
  const lengths = valuesOf(fields, "content-length");
  const encodings = valuesOf(fields, "transfer-encoding");
  if (encodings.length > 0) {
    if (lengths.length > 0) return "has both Content-Length and Transfer-Encoding";
    if (version !== "1.1") return "has Transfer-Encoding in HTTP/1.0";
    const isChunked = encodings.length === 1 && encodings[0]?.toLowerCase() === "chunked";
    return isChunked ? { kind: "chunked" } : "has another Transfer-Encoding than chunked";
  }
  if (lengths.length > 1) return "has several Content-Lengths";
  const [said] = lengths;
  if (said === undefined) return { kind: "none" };
  return length.test(said) ? { kind: "length", bytes: Number(said) } : "has a Content-Length that is not a number";
}

function canonical(name: string): string {
  return name.trim().toLowerCase();
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
