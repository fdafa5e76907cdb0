import { formatBytes, mebibyte } from "../../base/bytes.ts";
import { invalidValue } from "./invalid-value.ts";
import { checkRelativePath } from "./relative-path.ts";

/** Most context files of a run. */
const maxContextFiles = 256;
/** Most bytes of all of them together: 16 MiB. */
export const maxContextBytes: number = 16 * mebibyte;

/** A file to be placed beside the code. */
export interface ContextFile {
  /** Relative to the code's folder, forward slashes. */
  readonly path: string;
  /** Text is written as UTF-8, bytes as they are. */
  readonly content: string | Uint8Array;
}

/** A context file that passed: its path is normal and its content is bytes. */
export interface CheckedContextFile {
  readonly path: string;
  readonly content: Uint8Array;
}

export interface ContextFilesOptions {
  /** Names beside the code that are taken, such as the code's own file (`main.py`). */
  readonly reservedPaths: readonly string[];
  /** Name of the field in errors; default `context_files`. */
  readonly field?: string | undefined;
}

/**
 * The context files of a run, checked and with normal paths.
 *
 * Paths that differ only in case or in Unicode form count as the same, so that a request means the same on an engine
 * whose files live on a case-insensitive disk.
 * @throws INVALID_REQUEST naming the entry, such as `context_files[3].path`
 */
export function checkContextFiles(
  files: readonly ContextFile[],
  options: ContextFilesOptions,
): readonly CheckedContextFile[] {
  const { reservedPaths, field = "context_files" } = options;
  if (files.length > maxContextFiles) {
    throw invalidValue(field, `expected at most ${maxContextFiles} files, found ${files.length}`);
  }
  const places: Places = { files: new Map(), folders: new Map() };
  for (const path of reservedPaths) claim(places, path, "the code itself");
  let totalBytes = 0;
  return files.map((file, index) => {
    const path = checkRelativePath(file.path, `${field}[${index}].path`);
    const problem = claim(places, path, `${field}[${index}]`);
    if (problem !== null) throw invalidValue(`${field}[${index}].path`, `${JSON.stringify(path)} ${problem}`);
    const content = toBytes(file.content, `${field}[${index}].content`);
    totalBytes += content.byteLength;
    if (totalBytes > maxContextBytes) {
      const limit = `${maxContextBytes} bytes (${formatBytes(maxContextBytes)})`;
      throw invalidValue(`${field}[${index}].content`, `expected at most ${limit} in all files, found more up to here`);
    }
    return { path, content };
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

function toBytes(content: string | Uint8Array, field: string): Uint8Array {
  if (typeof content !== "string") return content;
  if (!content.isWellFormed()) throw invalidValue(field, "expected Unicode text, found half a surrogate pair");
  return new TextEncoder().encode(content);
}
