import { tarBlockBytes, tarEnd, tarHeader, tarPadding, type TarHeader } from "../../base/tar.ts";
import { ByteReader } from "../../base/streams/byte-reader.ts";
import type { TreeEntry, NewTreeEntry, TreeFile } from "./file-way.ts";
import type { MoveBounds } from "./move-bounds.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";

/** Null for the empty block that ends an archive. @throws RangeError for an invalid header */
export function parseTarHeader(block: Buffer): TarHeader | null {
  if (block.every((byte) => byte === 0)) return null;
  const told = number(block.subarray(148, 156));
  const sum = block.reduce((total, byte, index) => total + (index >= 148 && index < 156 ? 0x20 : byte), 0);
  if (told !== sum) throw new RangeError("not a header of an archive");
  const name = text(block.subarray(0, 100));
  // Only the POSIX form has a prefix; GNU's keeps times there.
  const isPosix = block.toString("latin1", 257, 263) === "ustar\0";
  const prefix = isPosix ? text(block.subarray(345, 500)) : Buffer.alloc(0);
  const flag = block.toString("latin1", 156, 157);
  return {
    name: prefix.length === 0 ? name : Buffer.concat([prefix, Buffer.from("/"), name]),
    target: text(block.subarray(157, 257)),
    flag: flag === "\0" || flag === "7" ? "0" : flag,
    mode: number(block.subarray(100, 108)) & 0o7777,
    sizeBytes: number(block.subarray(124, 136)),
    seconds: number(block.subarray(136, 148)),
  };
}

/** The records of a POSIX extended header, `LENGTH NAME=VALUE\n` each. @throws RangeError */
export function parsePaxRecords(content: Buffer): ReadonlyMap<string, Buffer> {
  const records = new Map<string, Buffer>();
  for (let at = 0; at < content.length;) {
    const digits = /^[1-9]\d{0,5} /.exec(content.toString("latin1", at, at + 7))?.[0] ?? "";
    const record = content.subarray(at, at + Number(digits));
    // Within the record: searching beyond it would take quadratic time.
    const equals = record.indexOf(0x3d);
    const isWhole = record.length === Number(digits) && record.at(-1) === 0x0a;
    if (digits === "" || equals < digits.length || !isWhole) throw new RangeError("not a record");
    records.set(record.toString("utf8", digits.length, equals), record.subarray(equals + 1, -1));
    at += record.length;
  }
  return records;
}

/** Flags of the headers that are words about the next one. */
const wordFlags = "LKxg";
/** Longer than what any tar writes about one entry: two paths and times. */
const maxWordsBytes = 16_384;
/** Extended headers before one entry: GNU's tar has two, POSIX's one and one for all. */
const maxExtended = 4;

/** What extended headers say about the entry that follows them. */
interface TarWords {
  name?: Buffer | undefined;
  target?: Buffer | undefined;
  sizeBytes?: number | undefined;
  seconds?: number | undefined;
}

/**
 * @throws RangeError
 * @hostileText Exported for the test that feeds it.
 */
export function parseTarWords(flag: string, content: Buffer): TarWords {
  if (flag === "L") return { name: withoutEnd(content) };
  if (flag === "K") return { target: withoutEnd(content) };
  if (flag === "g") return {};
  const records = parsePaxRecords(content);
  const [size, seconds] = [records.get("size"), records.get("mtime")];
  return {
    name: records.get("path"),
    target: records.get("linkpath"),
    sizeBytes: size === undefined ? undefined : wholeNumber(size),
    seconds: seconds === undefined ? undefined : Math.floor(Number(seconds.toString("latin1"))) || 0,
  };
}

/** The kernel's limit of a path, which a tree that was read whole can exceed by little. */
const maxPathBytes = 4_096;
/** Empty blocks that fill the last record: 10 KiB, or more where tar was told so. */
const maxRestBytes = 1_048_576;

/**
 * The entries of a streamed archive; unread content is skipped. Uses no library: the archive may be hostile, so the
 * number and size of extended headers, the paths and the trailing bytes are limited before anything is kept.
 * @throws RangeError for an invalid or truncated archive
 */
export async function* decodeTar(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<TreeEntry, void, undefined> {
  const reader = new ByteReader(chunks);
  try {
    yield* entries(reader);
  } finally {
    await reader.close();
  }
}

/**
 * Passes an archive on unchanged, except for the padding of its last record, and enforces its bounds; names may be any
 * bytes. No bytes at all are an empty archive.
 * @throws RangeError for an invalid or truncated archive; POLICY_DENIED, TIMEOUT, CANCELLED
 */
export async function* boundArchive(
  chunks: AsyncIterable<Uint8Array>,
  bounds: MoveBounds,
): AsyncGenerator<Uint8Array, void, undefined> {
  const reader = new ByteReader(chunks);
  try {
    if (await reader.isAtEnd()) return;
    for await (const piece of archive(reader, bounds)) {
      bounds.pass(piece.length);
      yield piece;
    }
  } finally {
    await reader.close();
  }
}

/**
 * A streamed archive of the entries. @throws INVALID_REQUEST for an entry with an invalid path or content of another
 * size
 */
export async function* encodeTar(
  entries: AsyncIterable<NewTreeEntry> | Iterable<NewTreeEntry>,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const entry of entries) {
    checkPath(entry.path);
    if ("target" in entry && !isText(entry.target)) throw invalid(entry.path, "has a target that is no path");
    yield tarHeader(entry);
    if (entry.kind !== "file") continue;
    yield* exactContent(entry);
    yield tarPadding(entry.sizeBytes);
  }
  yield tarEnd;
}

/** The size in a file's header is final once sent, so a file that grows is truncated and one that shrinks fails. */
async function* exactContent({ path, sizeBytes, chunks }: TreeFile): AsyncGenerator<Uint8Array, void, undefined> {
  let left = sizeBytes;
  for await (const chunk of chunks) {
    if (left > 0) yield chunk.subarray(0, left);
    left -= Math.min(left, chunk.length);
    if (left === 0) break;
  }
  if (left > 0) throw invalid(path, `has fewer bytes than the ${sizeBytes} that were told`);
}

function checkPath(path: string): void {
  if (path.startsWith("/")) throw invalid(path, "is not relative");
  if (path.split("/").includes("..")) throw invalid(path, "leads out of its folder");
  if (!isText(path)) throw invalid(path, "is no path");
}

function isText(path: string): boolean {
  return path.isWellFormed() && !path.includes("\0");
}

function invalid(path: string, problem: string): GloveboxError {
  return new GloveboxError("INVALID_REQUEST", `The entry ${JSON.stringify(path)} ${problem}.`, {
    suggestion: "Send the tree again; its paths are relative to its folder.",
    context: { path },
  });
}

function text(field: Buffer): Buffer {
  const end = field.indexOf(0);
  return end < 0 ? field : field.subarray(0, end);
}

function number(field: Buffer): number {
  const first = field[0] ?? 0;
  if ((first & 0x80) !== 0) {
    // Binary; numbers that matter here fit its last 8 bytes. Negative ones are times before the epoch.
    const value = first === 0xff ? 0 : Number(field.readBigUInt64BE(field.length - 8));
    if (!Number.isSafeInteger(value)) throw new RangeError("a number beyond measure");
    return value;
  }
  const digits = text(field).toString("latin1").trim();
  if (digits === "") return 0;
  if (!/^[0-7]+$/.test(digits)) throw new RangeError("not a number");
  return Number.parseInt(digits, 8);
}

/** Called before they are read. @throws RangeError for more than any tar writes */
function assertFewWords(sizeBytes: number, extended: number): void {
  if (sizeBytes > maxWordsBytes || extended > maxExtended) throw new RangeError("words beyond measure");
}

function withoutEnd(content: Buffer): Buffer {
  const end = content.indexOf(0);
  return end < 0 ? content : content.subarray(0, end);
}

function wholeNumber(bytes: Buffer): number {
  const value = Number(bytes.toString("latin1"));
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError("not a size");
  return value;
}

async function* entries(reader: ByteReader): AsyncGenerator<TreeEntry, void, undefined> {
  let words: TarWords = {};
  let extended = 0;
  for (;;) {
    const block = await reader.exactly(tarBlockBytes);
    const header = parseTarHeader(block);
    if (header === null) return reader.rest(maxRestBytes);
    const blocks = Math.ceil(header.sizeBytes / tarBlockBytes) * tarBlockBytes;
    if (wordFlags.includes(header.flag)) {
      assertFewWords(header.sizeBytes, ++extended);
      const content = (await reader.exactly(blocks)).subarray(0, header.sizeBytes);
      Object.assign(words, parseTarWords(header.flag, content));
      continue;
    }
    const sizeBytes = words.sizeBytes ?? header.sizeBytes;
    // Only files have content, whatever other headers claim.
    const content = reader.take(header.flag === "0" ? sizeBytes : 0);
    yield entryOf(header, words, { sizeBytes, chunks: content.chunks });
    words = {};
    extended = 0;
    await content.skip();
    const padded = Math.ceil(sizeBytes / tarBlockBytes) * tarBlockBytes;
    if (header.flag === "0") await reader.exactly(padded - sizeBytes);
  }
}

function entryOf(
  header: TarHeader,
  words: TarWords,
  content: { readonly sizeBytes: number; readonly chunks: AsyncIterable<Uint8Array> },
): TreeEntry {
  const common = {
    path: pathOf(words.name ?? header.name),
    mode: header.mode,
    modifiedAtMs: (words.seconds ?? header.seconds) * 1000,
  };
  const target = (): string => utf8(words.target ?? header.target);
  switch (header.flag) {
    case "0":
      return { ...common, ...content, kind: "file" };
    case "1":
      return { ...common, kind: "hard-link", target: pathOf(words.target ?? header.target) };
    case "2":
      return { ...common, kind: "link", target: target() };
    case "5":
      return { ...common, kind: "folder" };
    default:
      return { ...common, kind: "other" };
  }
}

/** Without a leading `./` and a trailing `/`. */
function pathOf(bytes: Buffer): string {
  return utf8(bytes)
    .replace(/^(?:\.?\/)+/, "")
    .replace(/(?<!\/)\/+$/, "")
    .replace(/^\.$/, "");
}

/** @throws TypeError for other bytes, RangeError for too many */
function utf8(bytes: Buffer): string {
  if (bytes.length > maxPathBytes) throw new RangeError("a path beyond measure");
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
}

async function* archive(reader: ByteReader, bounds: MoveBounds): AsyncGenerator<Uint8Array, void, undefined> {
  let words: TarWords = {};
  let extended = 0;
  for (;;) {
    const block = await reader.exactly(tarBlockBytes);
    const header = parseTarHeader(block);
    if (header === null) break;
    yield block;
    if (wordFlags.includes(header.flag)) {
      assertFewWords(header.sizeBytes, ++extended);
      const content = await reader.exactly(inBlocks(header.sizeBytes));
      yield content;
      Object.assign(words, parseTarWords(header.flag, content.subarray(0, header.sizeBytes)));
      continue;
    }
    bounds.enter(depthOf(words.name ?? header.name));
    if (header.flag === "0") yield* reader.take(inBlocks(words.sizeBytes ?? header.sizeBytes)).chunks;
    words = {};
    extended = 0;
  }
  await reader.rest(maxRestBytes);
  yield tarEnd;
}

function inBlocks(bytes: number): number {
  return Math.ceil(bytes / tarBlockBytes) * tarBlockBytes;
}

/** Depth of its path; a path longer than the kernel allows is refused by the unpacker. */
function depthOf(name: Buffer): number {
  return name.reduce((depth, byte) => (byte === 0x2f ? depth + 1 : depth), 0);
}
