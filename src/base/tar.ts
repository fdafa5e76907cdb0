import { tarEnd, tarHeader, tarPadding } from "./tar-encoder.ts";

/** A file of an archive. */
export interface TarFile {
  /** With forward slashes. */
  readonly path: string;
  readonly content: Uint8Array;
}

/** The files as a tar archive, readable for everyone and of no particular time or owner. */
export function tarOf(files: readonly TarFile[]): Buffer {
  const blocks = files.flatMap(({ path, content }) => [
    tarHeader({ kind: "file", path, mode: 0o644, modifiedAtMs: 0, sizeBytes: content.length }),
    content,
    tarPadding(content.length),
  ]);
  return Buffer.concat([...blocks, tarEnd]);
}
