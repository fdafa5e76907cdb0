/** A file of an archive. */
export interface TarFile {
  /** At most 100 bytes of ASCII, with forward slashes. */
  readonly path: string;
  readonly content: Uint8Array;
}

const blockBytes = 512;

/** The files as a tar archive, readable for everyone and of no particular time or owner. */
export function tarOf(files: readonly TarFile[]): Buffer {
  const blocks = files.flatMap(({ path, content }) => [
    headerOf(path, content.length),
    content,
    Buffer.alloc((blockBytes - (content.length % blockBytes)) % blockBytes),
  ]);
  return Buffer.concat([...blocks, Buffer.alloc(2 * blockBytes)]);
}

function headerOf(path: string, size: number): Buffer {
  const header = Buffer.alloc(blockBytes);
  if (Buffer.byteLength(path) > 100) throw new RangeError("the path is too long for a tar header");
  const octal = (value: number, width: number): string => `${value.toString(8).padStart(width - 1, "0")}\0`;
  header.write(path, 0);
  header.write(octal(0o644, 8), 100);
  header.write(octal(0, 8), 108);
  header.write(octal(0, 8), 116);
  header.write(octal(size, 12), 124);
  header.write(octal(0, 12), 136);
  // While it is summed up, the sum itself counts as spaces.
  header.write("        0", 148);
  header.write("ustar\u000000", 257);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return header;
}
