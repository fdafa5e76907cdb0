import { isUtf8 } from "node:buffer";
import { readFile, stat } from "node:fs/promises";
import { pathBelow } from "../../base/portable-path.ts";
import { errorCode } from "../../errors/error-code.ts";
import { invalidField } from "../../errors/glovebox-error.ts";

/** A context file as a request carries it. */
interface InlineFile {
  readonly path: string;
  readonly content: string;
  readonly encoding: "utf8" | "base64";
}

/** Bytes that one request carries well. */
const maxFilesBytes = 16_777_216;

/**
 * This machine's files in a request to a server, which would read its own ones by these paths.
 * @throws INVALID_REQUEST for a path that leads out of the current folder, for what cannot be read, and above 16 MiB
 */
export async function inlineFiles(paths: readonly string[]): Promise<readonly InlineFile[]> {
  let bytes = 0;
  const files: InlineFile[] = [];
  for (const given of paths) {
    const relative = pathBelow(given);
    if (relative === null) throw invalidField("--file", "a path below the current folder", given);
    bytes += await sizeOf(given);
    if (bytes > maxFilesBytes) throw invalidField("--file", `at most ${maxFilesBytes} bytes in all`, `${bytes} bytes`);
    const content = await readFile(given);
    const encoding = isUtf8(content) ? "utf8" : "base64";
    files.push({ path: relative, content: content.toString(encoding), encoding });
  }
  return files;
}

async function sizeOf(file: string): Promise<number> {
  try {
    const found = await stat(file);
    if (found.isFile()) return found.size;
  } catch (error) {
    throw invalidField("--file", "a file that can be read", `${file} (${errorCode(error)})`, error);
  }
  throw invalidField("--file", "a file", file);
}
