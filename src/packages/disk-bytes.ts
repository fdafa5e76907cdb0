const blockBytes = 4096;

/** What a file of that size costs on the disk, or a folder of size 0: whole blocks, and one for its own entry at least. */
export function diskBytesOf(sizeBytes: number): number {
  return Math.max(1, Math.ceil(sizeBytes / blockBytes)) * blockBytes;
}
