/** A message as the strictest reader of HTTP/1.1 understands it. */
export interface StrictMessage {
  readonly startLine: string;
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
  /** The bytes that follow the message. */
  readonly rest: Buffer;
}

export interface ReadAs {
  /** Whether it ends with the connection if no field says where it ends. */
  readonly endsWithConnection?: boolean;
  /** Whether it has no body, whatever its fields say. */
  readonly hasNoBody?: boolean;
}

const field = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[\t ]*([\t\x20-\x7e\x80-\xff]*?)[\t ]*$/;

/** Reads one message from the start of the bytes, or says what is wrong with it. */
export function readStrictly(
  bytes: Buffer,
  { endsWithConnection = false, hasNoBody = false }: ReadAs = {},
): StrictMessage | string {
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1) return "the head has no end";
  const [startLine = "", ...lines] = bytes.toString("latin1", 0, end).split("\r\n");
  if (!/^[\x20-\x7e\x80-\xff]+$/.test(startLine)) return "a control character in the first line";
  const found = lines.map((line) => field.exec(line));
  if (found.includes(null)) return `a line that is no field: ${lines[found.indexOf(null)]}`;
  const fields = found.map((each) => [each?.[1] ?? "", each?.[2] ?? ""] as const);
  const values = (name: string): string[] =>
    fields.filter(([each]) => each.toLowerCase() === name).map(([, value]) => value);
  const [lengths, encodings] = [values("content-length"), values("transfer-encoding")];
  const rest = bytes.subarray(end + 4);
  if (lengths.length + encodings.length > 1) return "several framings";
  if (hasNoBody) return { startLine, fields, body: Buffer.alloc(0), rest };
  if (encodings.length === 1) {
    if (encodings[0] !== "chunked") return "another coding than chunked";
    const read = readChunks(rest);
    return typeof read === "string" ? read : { startLine, fields, ...read };
  }
  if (lengths.length === 0 && endsWithConnection) return { startLine, fields, body: rest, rest: Buffer.alloc(0) };
  if (lengths.length === 1 && !/^\d{1,15}$/.test(lengths[0] ?? "")) return "a length that is no number";
  const size = Number(lengths[0] ?? 0);
  if (rest.length < size) return "a body that is too short";
  return { startLine, fields, body: rest.subarray(0, size), rest: rest.subarray(size) };
}

function readChunks(bytes: Buffer): { readonly body: Buffer; readonly rest: Buffer } | string {
  const pieces: Buffer[] = [];
  for (let at = 0; ;) {
    const end = bytes.indexOf("\r\n", at);
    const line = end === -1 ? "" : bytes.toString("latin1", at, end);
    if (!/^[0-9a-f]{1,8}$/i.test(line)) return `a chunk without a size: ${JSON.stringify(line)}`;
    const size = Number.parseInt(line, 16);
    const next = end + 2 + size;
    if (bytes.toString("latin1", next, next + 2) !== "\r\n") return "a chunk without an end";
    if (size === 0) return { body: Buffer.concat(pieces), rest: bytes.subarray(next + 2) };
    pieces.push(bytes.subarray(end + 2, next));
    at = next + 2;
  }
}
