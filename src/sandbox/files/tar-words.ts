import { parsePaxRecords } from "./tar-header.ts";

/** Flags of the headers that are words about the next one. */
export const wordFlags = "LKxg";
/** Longer than what any tar writes about one entry: two paths and times. */
const maxWordsBytes = 16_384;
/** Extended headers before one entry: GNU's tar has two, POSIX's one and one for all. */
const maxExtended = 4;

/** What extended headers say about the entry that follows them. */
export interface TarWords {
  name?: Buffer | undefined;
  target?: Buffer | undefined;
  sizeBytes?: number | undefined;
  seconds?: number | undefined;
}

/** Called before they are read. @throws RangeError for more than any tar writes */
export function assertFewWords(sizeBytes: number, extended: number): void {
  if (sizeBytes > maxWordsBytes || extended > maxExtended) throw new RangeError("words beyond measure");
}

/** @throws RangeError */
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

function withoutEnd(content: Buffer): Buffer {
  const end = content.indexOf(0);
  return end < 0 ? content : content.subarray(0, end);
}

function wholeNumber(bytes: Buffer): number {
  const value = Number(bytes.toString("latin1"));
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError("not a size");
  return value;
}
