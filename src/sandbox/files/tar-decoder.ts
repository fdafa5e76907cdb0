import { tarBlockBytes, type TarHeader } from "../../base/tar.ts";
import { ByteReader } from "../../base/streams/byte-reader.ts";
import type { TreeEntry } from "./file-facts.ts";
import { parseTarHeader } from "./tar-header.ts";
import { assertFewWords, parseTarWords, wordFlags, type TarWords } from "./tar-words.ts";

/** The kernel's limit of a path, which a tree that was read whole can exceed by little. */
const maxPathBytes = 4_096;
/** Empty blocks that fill the last record: 10 KiB, or more where tar was told so. */
export const maxRestBytes = 1_048_576;

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
