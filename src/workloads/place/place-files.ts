import { isUtf8 } from "node:buffer";
import { formatBytes, mebibyte } from "../../base/bytes.ts";
import type { CallOptions } from "../../engines/engine.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { ChangedToolingFile } from "../../policy/tooling/tooling-changes.ts";
import type { FileKind } from "../../sandbox/files/file-facts.ts";
import type { SandboxFiles } from "../../sandbox/files/sandbox-files.ts";
import { editText, type TextEdit } from "./edit-text.ts";

/** Work on the files of a place, by absolute paths inside. */
export type FileWork<T> = (files: SandboxFiles, call: CallOptions) => Promise<T>;

export interface FileOptions extends CallOptions {
  /** Whether the work changes files. */
  readonly writes: boolean;
}

/** The result of work on the files of a place. */
export interface FileUse<T> {
  readonly result: T;
  /** Whether its sandbox differs from that of the previous call. */
  readonly restarted: boolean;
  /** What the caller should know about that, one sentence each. */
  readonly warnings: readonly string[];
  /** Null if there is no project that could have any. */
  readonly toolingFiles: readonly ChangedToolingFile[] | null;
}

/** A file or folder in a place. */
export interface PlaceFile {
  /** Relative to the folder that was listed. */
  readonly path: string;
  readonly type: FileKind;
  readonly sizeBytes: number;
}

/** Largest part of a file that one call reads or writes. */
export const maxFileBytes: number = 10 * mebibyte;
/** Maximum entries that one call lists. */
const maxListed = 1000;

/** What is in a folder, by name. @throws what `SandboxFiles` throws */
export async function listFiles(
  files: SandboxFiles,
  path: string,
  { signal }: CallOptions,
): Promise<{ readonly files: readonly PlaceFile[]; readonly truncated: boolean }> {
  const { entries, isTruncated } = await files.list(path, { maxEntries: maxListed, signal });
  const found = entries.map(({ path: name, kind, sizeBytes }) => ({ path: name, type: kind, sizeBytes }));
  return { files: found, truncated: isTruncated };
}

/** Bytes of a file from an offset on. @throws what `SandboxFiles` throws */
export async function readFile(
  files: SandboxFiles,
  { path, offset, limit }: { readonly path: string; readonly offset: number; readonly limit: number },
  { signal }: CallOptions,
): Promise<{ readonly content: Uint8Array; readonly sizeBytes: number }> {
  const maxBytes = Math.min(limit, maxFileBytes);
  const { sizeBytes, chunks } = await files.read(path, { offsetBytes: offset, maxBytes, signal });
  const pieces: Uint8Array[] = [];
  for await (const piece of chunks) pieces.push(piece);
  return { content: Buffer.concat(pieces), sizeBytes };
}

/**
 * Replaces text in a file, which keeps its permissions.
 * @throws what `SandboxFiles` and `editText` throw, INVALID_REQUEST for what is no text, UNSUPPORTED for more than 10 MiB
 */
export async function editFile(
  files: SandboxFiles,
  { path, ...edit }: TextEdit & { readonly path: string },
  call: CallOptions,
): Promise<{ readonly replacements: number; readonly sizeBytes: number }> {
  const { content, sizeBytes } = await readFile(files, { path, offset: 0, limit: maxFileBytes }, call);
  if (content.length < sizeBytes) {
    throw new GloveboxError("UNSUPPORTED", `The file has ${sizeBytes} bytes, more than ${formatBytes(maxFileBytes)}.`, {
      suggestion: "Change it with a program in the sandbox, such as sed.",
      context: { field: "path" },
    });
  }
  if (!isUtf8(content)) {
    throw new GloveboxError("INVALID_REQUEST", "path: the file is no UTF-8 text.", {
      suggestion: "Write it anew with write_file in base64, or change it with a program in the sandbox.",
      context: { field: "path" },
    });
  }
  const { text, replacements } = editText(Buffer.from(content).toString("utf8"), edit);
  const edited = Buffer.from(text);
  await writeFile(files, { path, content: edited }, call);
  return { replacements, sizeBytes: edited.length };
}

/**
 * Writes a whole file; missing folders are created. @throws what `SandboxFiles` throws, INVALID_REQUEST for too much
 */
export async function writeFile(
  files: SandboxFiles,
  { path, content }: { readonly path: string; readonly content: Uint8Array },
  { signal }: CallOptions,
): Promise<void> {
  if (content.length > maxFileBytes) {
    throw new GloveboxError("INVALID_REQUEST", `content: expected at most ${formatBytes(maxFileBytes)}.`, {
      context: { field: "content" },
    });
  }
  await files.write(path, content, { signal });
}
