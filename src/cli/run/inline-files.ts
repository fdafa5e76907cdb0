import { isUtf8 } from "node:buffer";
import { readFile, stat } from "node:fs/promises";
import { formatBytes } from "../../base/bytes.ts";
import { pathBelow } from "../../base/portable-path.ts";
import { errorCode } from "../../errors/error-code.ts";
import { GloveboxError, invalidField } from "../../errors/glovebox-error.ts";

/** A context file as a request carries it. */
interface InlineFile {
  readonly path: string;
  readonly content: string;
  readonly encoding: "utf8" | "base64";
}

/** Bytes of files that a server accepts in addition to the code. */
const maxFilesBytes = 16_777_216;

/**
 * Puts this machine's files into a request to a server, which would take the paths for its own files.
 * @throws INVALID_REQUEST for a path outside the current folder, for an unreadable file, and above 16 MiB
 */
export async function inlineFiles(option: string, paths: readonly string[]): Promise<readonly InlineFile[]> {
  let bytes = 0;
  const files: InlineFile[] = [];
  for (const given of paths) {
    const relative = pathBelow(given);
    if (relative === null) throw notBelow(option, given);
    bytes += await sizeOf(option, given);
    if (bytes > maxFilesBytes) throw tooMuch(option, bytes);
    const content = await readFile(given);
    const encoding = isUtf8(content) ? "utf8" : "base64";
    files.push({ path: relative, content: content.toString(encoding), encoding });
  }
  return files;
}

async function sizeOf(option: string, file: string): Promise<number> {
  try {
    const found = await stat(file);
    if (found.isFile()) return found.size;
  } catch (error) {
    throw invalidField(option, "a file that can be read", `${file} (${errorCode(error)})`, error);
  }
  throw invalidField(option, "a file", file);
}

/** A program finds a file at its path from the current folder, and there is none for one that lies elsewhere. */
function notBelow(option: string, given: string): GloveboxError {
  const message = `${option}: a server gets only files below the current folder, under their paths from it; found ${given}.`;
  return new GloveboxError("INVALID_REQUEST", message, {
    suggestion: "Copy the file into the current folder, or unset GLOVEBOX_URL to run on this machine.",
    context: { field: option },
  });
}

function tooMuch(option: string, bytes: number): GloveboxError {
  const limit = formatBytes(maxFilesBytes);
  const message = `${option}: a server takes at most ${limit} of files with a request, found ${formatBytes(bytes)} or more.`;
  return new GloveboxError("INVALID_REQUEST", message, {
    suggestion: `Bring at most ${limit}, or unset GLOVEBOX_URL: a sandbox of this machine takes files up to --disk.`,
    context: { field: option },
  });
}
