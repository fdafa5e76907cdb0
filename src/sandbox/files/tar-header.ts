import type { TarHeader } from "../../base/tar.ts";

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
