import type { FileKind, FileRecord } from "../../container-files.ts";
import { frameLimits } from "./frame-table.ts";
import { ProtocolError } from "./frame.ts";

const kinds: Readonly<Record<string, FileKind>> = {
  f: "file",
  d: "folder",
  l: "link",
  p: "fifo",
  s: "socket",
  c: "characterDevice",
  b: "blockDevice",
};

/** Bytes of a record before its names, the length of the rest included. */
const fixedBytes = 56;
const lengthBytes = 4;
const nanosecondsPerSecond = 1_000_000_000n;
const maxMode = 0o7777;

/** Cuts the answer of LOOK and LIST, fed piece by piece, into records. Holds at most one record. */
export class FileRecordReader {
  readonly #isTree: boolean;
  #rest: Buffer = Buffer.alloc(0);

  /** `isTree`: whether names may be paths. */
  constructor({ isTree = false } = {}) {
    this.#isTree = isTree;
  }

  /** Whether the bytes so far end in the middle of a record. */
  get isWithinRecord(): boolean {
    return this.#rest.length > 0;
  }

  /** @throws ProtocolError */
  read(bytes: Uint8Array): readonly FileRecord[] {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    const records: FileRecord[] = [];
    for (;;) {
      const first = firstRecord(this.#rest, this.#isTree);
      if (first === null) break;
      records.push(first.record);
      this.#rest = first.rest;
    }
    // A copy: what is left must not keep all that came before it.
    this.#rest = Buffer.from(this.#rest);
    return records;
  }
}

/** The record that bytes begin with, and what follows it; null when it is not there yet. @throws ProtocolError */
export function firstRecord(
  bytes: Buffer,
  isTree = false,
): { readonly record: FileRecord; readonly rest: Buffer } | null {
  if (bytes.length < lengthBytes) return null;
  const length = lengthBytes + bytes.readUInt32LE(0);
  if (length < fixedBytes || length > fixedBytes + 2 * frameLimits.maxPathBytes) {
    throw new ProtocolError(`a file's record of ${length} bytes`);
  }
  if (bytes.length < length) return null;
  return { record: recordOf(bytes.subarray(0, length), isTree), rest: bytes.subarray(length) };
}

/** The layout of PROTOCOL.md, "Files". */
function recordOf(record: Buffer, isTree: boolean): FileRecord {
  const kind = kinds[String.fromCharCode(record.readUInt8(4))];
  const nameBytes = record.readUInt16LE(6);
  const targetBytes = record.readUInt16LE(8);
  const mode = record.readUInt32LE(12);
  const nanoseconds = record.readUInt32LE(28);
  const closed = record.readUInt8(5);
  const areFlags = closed <= (kind === "folder" ? 1 : 0) && record.readUInt16LE(10) === 0;
  const fits = fixedBytes + nameBytes + targetBytes === record.length;
  if (kind === undefined || !areFlags || !fits || mode > maxMode || nanoseconds >= nanosecondsPerSecond) {
    throw new ProtocolError("a file's record that does not fit");
  }
  const name = Buffer.from(record.subarray(fixedBytes, fixedBytes + nameBytes));
  const parts = name.toString("latin1").split("/");
  if (
    name.includes(0) ||
    parts.includes(".") ||
    parts.includes("..") ||
    (parts.length > 1 && (!isTree || parts.includes("")))
  ) {
    throw new ProtocolError("a file's name that no folder has");
  }
  return {
    kind,
    name,
    target: Buffer.from(record.subarray(fixedBytes + nameBytes)),
    isClosed: closed === 1,
    mode,
    links: record.readUInt32LE(16),
    user: record.readUInt32LE(20),
    group: record.readUInt32LE(24),
    sizeBytes: record.readBigUInt64LE(32),
    inode: record.readBigUInt64LE(40),
    modifiedNs: record.readBigInt64LE(48) * nanosecondsPerSecond + BigInt(nanoseconds),
  };
}
