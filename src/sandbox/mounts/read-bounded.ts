import type { FileHandle } from "node:fs/promises";

/** Bytes asked for at once. */
const chunkBytes = 256 * 1024;

/** All bytes of an open file, null when there are more than `maxBytes`; counted while they come, for it may grow. */
export async function readBounded(file: FileHandle, maxBytes: number): Promise<Uint8Array | null> {
  const { size } = await file.stat();
  if (size > maxBytes) return null;
  const chunks: Uint8Array[] = [];
  let position = 0;
  for (;;) {
    const { bytesRead, buffer } = await file.read({ buffer: Buffer.alloc(chunkBytes), position });
    if (bytesRead === 0) return Buffer.concat(chunks);
    chunks.push(buffer.subarray(0, bytesRead));
    position += bytesRead;
    if (position > maxBytes) return null;
  }
}
