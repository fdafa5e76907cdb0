import { maxContextFiles } from "../../operations/contract/wire-values.ts";
import { formatBytes, mebibyte } from "../../base/bytes.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { invalidValue } from "./invalid-value.ts";
import { checkRelativePath } from "./request-paths.ts";

/** Most bytes of all of them together that are held in memory: 16 MiB. */
export const maxContextBytes: number = 16 * mebibyte;

/** A file's bytes, read when they are sent: exactly `sizeBytes` of them, or reading fails. */
export interface FileBytes {
  readonly sizeBytes: number;
  read(): AsyncIterable<Uint8Array>;
}

/** A file to be placed next to the code. */
export interface ContextFile {
  /** Relative to the code's folder, forward slashes. */
  readonly path: string;
  /** Text is written as UTF-8, bytes as they are. */
  readonly content: string | Uint8Array | FileBytes;
}

/** A context file that passed: its path is normal and its content is bytes. */
export interface CheckedContextFile {
  readonly path: string;
  readonly content: Uint8Array;
}

/** A context file that passed and is read when it is sent; its path is normal. */
export interface CheckedDataFile extends FileBytes {
  readonly path: string;
}

export interface CheckedContextFiles {
  readonly files: readonly CheckedContextFile[];
  readonly data: readonly CheckedDataFile[];
}

export interface ContextFilesOptions {
  /** Names next to the code that are taken, such as the code's own file (`main.py`). */
  readonly reservedPaths: readonly string[];
  /** Most bytes of all files together, those that are not held in memory included. */
  readonly diskBytes: number;
  /** Name of the field in errors; default `context_files`. */
  readonly field?: string | undefined;
}

/**
 * The context files of a run, checked and with normal paths.
 *
 * Paths that differ only in case or in Unicode form count as the same, so that a request means the same on an engine
 * whose files live on a case-insensitive disk. At most 256 files, 16 MiB in memory, and `diskBytes` in all.
 * @throws INVALID_REQUEST naming the entry, such as `context_files[3].path`
 */
export function checkContextFiles(files: readonly ContextFile[], options: ContextFilesOptions): CheckedContextFiles {
  const { reservedPaths, diskBytes, field = "context_files" } = options;
  checkFileCount(files.length, field);
  const places: Places = { files: new Map(), folders: new Map() };
  for (const path of reservedPaths) claim(places, path, "the code itself");
  const bytes = { inMemory: 0, all: 0 };
  const checked = { files: [] as CheckedContextFile[], data: [] as CheckedDataFile[] };
  for (const [index, file] of files.entries()) {
    const path = checkRelativePath(file.path, `${field}[${index}].path`);
    const problem = claim(places, path, `${field}[${index}]`);
    if (problem !== null) throw invalidValue(`${field}[${index}].path`, `${JSON.stringify(path)} ${problem}`);
    const content = toBytes(file.content, `${field}[${index}].content`);
    if ("read" in content) {
      bytes.all += content.sizeBytes;
      checked.data.push({ path, sizeBytes: content.sizeBytes, read: () => content.read() });
      continue;
    }
    bytes.all += content.byteLength;
    bytes.inMemory += content.byteLength;
    if (bytes.inMemory > maxContextBytes) {
      const limit = `${maxContextBytes} bytes (${formatBytes(maxContextBytes)})`;
      throw invalidValue(`${field}[${index}].content`, `expected at most ${limit} in all files, found more up to here`);
    }
    checked.files.push({ path, content });
  }
  if (bytes.all > diskBytes) throw beyondDisk(field, bytes.all, diskBytes);
  return checked;
}

/** Asked before any of them is opened. @throws INVALID_REQUEST for more than 256 */
export function checkFileCount(count: number, field: string): void {
  if (count > maxContextFiles) throw invalidValue(field, `expected at most ${maxContextFiles} files, found ${count}`);
}

function beyondDisk(field: string, bytes: number, diskBytes: number): GloveboxError {
  const message = `${field}: expected at most ${formatBytes(diskBytes)} in all files, which is limits.disk_mb, found ${formatBytes(bytes)}.`;
  return new GloveboxError("INVALID_REQUEST", message, {
    suggestion: "Raise limits.disk_mb, or bring fewer files.",
    context: { field },
  });
}

/** Who has which path, as a file or as a folder of files; keys are folded. */
interface Places {
  readonly files: Map<string, string>;
  readonly folders: Map<string, string>;
}

/** Takes the path for its owner, or says in words what it clashes with. */
function claim(places: Places, path: string, owner: string): string | null {
  const key = fold(path);
  const sameFile = places.files.get(key);
  if (sameFile !== undefined) return `is the path of ${sameFile} too (upper and lower case count as the same)`;
  const folderOf = places.folders.get(key);
  if (folderOf !== undefined) return `is a folder in the path of ${folderOf}`;
  for (let end = key.indexOf("/"); end !== -1; end = key.indexOf("/", end + 1)) {
    const folder = key.slice(0, end);
    const file = places.files.get(folder);
    if (file !== undefined) return `needs a folder where ${file} is a file`;
    if (!places.folders.has(folder)) places.folders.set(folder, owner);
  }
  places.files.set(key, owner);
  return null;
}

function fold(path: string): string {
  return path.normalize("NFC").toLowerCase();
}

function toBytes(content: ContextFile["content"], field: string): Uint8Array | FileBytes {
  if (typeof content !== "string") return content;
  if (!content.isWellFormed()) throw invalidValue(field, "expected Unicode text, found half a surrogate pair");
  return new TextEncoder().encode(content);
}
