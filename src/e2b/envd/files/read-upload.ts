import { gunzip } from "node:zlib";
import { promisify } from "node:util";
import { kibibyte, mebibyte } from "../../../base/bytes.ts";
import type { BytesInFlight } from "../../../calls/bytes-in-flight.ts";
import { readWhole, type Exchange } from "../../http/exchange.ts";
import { E2bRefusal } from "../../http/refusal.ts";

/** One file of an upload. */
export interface UploadedFile {
  /** As it was sent. */
  readonly path: string;
  /** Known beforehand, or null. */
  readonly sizeBytes: number | null;
  /** Can be read once. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** Largest form, and largest compressed file, before and after it is unpacked; they are held as a whole. */
const maxHeldBytes = { form: 32 * mebibyte, file: 10 * mebibyte } as const;
/** What plain bytes may have on their way: they are read as fast as the sandbox takes them. */
const streamBytes = 256 * kibibyte;
/** Parts of one form. */
const maxParts = 256;

/**
 * The files of an upload: plain bytes of any size for the path in the query, or a form whose files are named `file`.
 * @throws E2bRefusal 400 for another form, 413 for too much, CAPACITY
 */
export async function readUpload(
  exchange: Exchange,
  inFlight: BytesInFlight,
  principal: string,
): Promise<readonly UploadedFile[]> {
  const { request, response, query } = exchange;
  const {
    "content-type": type = "",
    "content-encoding": encoding = "identity",
    "content-length": length,
  } = request.headers;
  const path = query.get("path") ?? "";
  const isForm = /^multipart\/form-data\b/i.test(type);
  if (!isForm && !/^application\/octet-stream\b/i.test(type)) {
    throw new E2bRefusal(400, "content-type: expected multipart/form-data or application/octet-stream");
  }
  if (!isForm && path === "") throw new E2bRefusal(400, "path: expected in the query of an upload of plain bytes");
  if (!isForm && encoding.toLowerCase() === "identity") {
    const held = inFlight.hold(principal, streamBytes);
    response.once("close", () => held.release());
    // Destroyed early, it would end the connection before the answer.
    const chunks = request.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>;
    return [{ path, sizeBytes: length === undefined ? null : Number(length), chunks }];
  }
  const maxBytes = maxHeldBytes[isForm ? "form" : "file"];
  const sent = await readWhole(exchange, { inFlight, principal, maxBytes });
  if (encoding.toLowerCase() === "gzip") {
    // Few bytes may become as many as there may be: they are held before there are any.
    const unpacked = inFlight.hold(principal, maxBytes);
    response.once("close", () => unpacked.release());
  }
  const body = await decoded(sent, encoding, maxBytes);
  return isForm ? filesOfForm(body, type, path) : [heldFile(path, body)];
}

function heldFile(path: string, content: Uint8Array): UploadedFile {
  const chunks = async function* (): AsyncGenerator<Uint8Array, void, undefined> {
    yield content;
  };
  return { path, sizeBytes: content.length, chunks: chunks() };
}

/** @throws E2bRefusal 400 for another encoding than gzip, 413 for what unpacks to too much */
async function decoded(body: Buffer, encoding: string, maxBytes: number): Promise<Buffer> {
  if (encoding.toLowerCase() === "identity") return body;
  if (encoding.toLowerCase() !== "gzip") throw new E2bRefusal(400, "content-encoding: expected gzip or none");
  try {
    return await promisify(gunzip)(body, { maxOutputLength: maxBytes });
  } catch (error) {
    const { code } = error as { readonly code?: unknown };
    throw code === "ERR_BUFFER_TOO_LARGE" ? tooLarge(maxBytes) : new E2bRefusal(400, "body: expected gzip");
  }
}

/** The files of a form; their names are paths, unless the query has one for the only file. */
async function filesOfForm(body: Buffer, type: string, path: string): Promise<readonly UploadedFile[]> {
  const boundary = /;\s*boundary=(?:"([^"]{1,200})"|([^\s;"]{1,200}))/i.exec(type);
  const mark = boundary?.[1] ?? boundary?.[2];
  if (mark === undefined) throw new E2bRefusal(400, "content-type: expected a boundary");
  if (countUpTo(body, `--${mark}`, maxParts + 2) > maxParts + 1) {
    throw new E2bRefusal(400, `body: expected at most ${maxParts} parts`);
  }
  let form: FormData;
  try {
    // It holds the whole body, and so is not recommended for servers; the body is bounded and held already.
    // oxlint-disable-next-line typescript/no-deprecated
    form = await new Response(body, { headers: { "content-type": type } }).formData();
  } catch {
    throw new E2bRefusal(400, "body: expected a form as multipart/form-data");
  }
  const parts = form.getAll("file");
  if (path !== "" && parts.length !== 1) throw new E2bRefusal(400, "body: expected one file for the path in the query");
  const files = await Promise.all(
    parts.map(async (part) => {
      const name = typeof part === "string" ? "" : part.name;
      const content = typeof part === "string" ? Buffer.from(part) : Buffer.from(await part.arrayBuffer());
      return heldFile(path === "" ? name : path, content);
    }),
  );
  if (files.some((file) => file.path === "")) throw new E2bRefusal(400, "body: expected a filename for each file");
  return files;
}

function countUpTo(body: Buffer, mark: string, max: number): number {
  let count = 0;
  for (let at = body.indexOf(mark); at !== -1 && count < max; at = body.indexOf(mark, at + 1)) count += 1;
  return count;
}

function tooLarge(maxBytes: number): E2bRefusal {
  return new E2bRefusal(413, `body: expected at most ${maxBytes} bytes, got more`);
}
