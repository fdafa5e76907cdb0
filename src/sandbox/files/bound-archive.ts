import { tarBlockBytes, tarEnd } from "../../base/tar.ts";
import { ByteReader } from "../../base/streams/byte-reader.ts";
import type { MoveBounds } from "./move-bounds.ts";
import { maxRestBytes } from "./tar-decoder.ts";
import { parseTarHeader } from "./tar-header.ts";
import { assertFewWords, parseTarWords, wordFlags, type TarWords } from "./tar-words.ts";

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
