import type { FileHandle } from "node:fs/promises";
import { GloveboxError } from "../../errors/glovebox-error.ts";

/** Bytes per read. */
const chunkBytes = 256 * 1024;

/**
 * All bytes of an open file or pipe, null if there are more than `maxBytes`; counted while reading, as the file may
 * grow.
 */
export async function readBounded(file: FileHandle, maxBytes: number): Promise<Uint8Array | null> {
  const facts = await file.stat();
  if (facts.size > maxBytes) return null;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of chunksOf(file, facts.isFile() ? 0 : null)) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > maxBytes) return null;
  }
  return Buffer.concat(chunks);
}

/**
 * The first bytes of an open file, as many as it had when it was checked. @throws INVALID_REQUEST if it has fewer by
 * now
 */
export async function* readExactly(file: FileHandle, sizeBytes: number): AsyncGenerator<Uint8Array, void, undefined> {
  let left = sizeBytes;
  if (left === 0) return;
  for await (const chunk of chunksOf(file)) {
    const piece = chunk.subarray(0, left);
    left -= piece.length;
    yield piece;
    if (left === 0) return;
  }
  throw new GloveboxError(
    "INVALID_REQUEST",
    `A file became shorter while it was sent: ${left} of ${sizeBytes} bytes are gone.`,
    {
      suggestion: "Run it again when nothing writes to the file.",
    },
  );
}

/** `from`: null for what has no positions, such as a pipe. */
async function* chunksOf(file: FileHandle, from: 0 | null = 0): AsyncGenerator<Uint8Array, void, undefined> {
  for (let position: number | null = from; ;) {
    const { bytesRead, buffer } = await file.read({ buffer: Buffer.alloc(chunkBytes), position });
    if (bytesRead === 0) return;
    if (position !== null) position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
