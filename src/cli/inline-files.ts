import { isUtf8 } from "node:buffer";
import path from "node:path";
import { formatBytes } from "../base/bytes.ts";
import { pathBelow } from "../base/portable-path.ts";
import { readHost } from "../config/host/host.ts";
import { errorCode, GloveboxError, invalidField } from "../errors/glovebox-error.ts";
import { readWithoutLinks } from "../transfer/local-files.ts";

/** A context file as a request carries it. */
interface InlineFile {
  readonly path: string;
  readonly content: string;
  readonly encoding: "utf8" | "base64";
}

/** Bytes of files that a server accepts in addition to the code. */
const maxFilesBytes = 16_777_216;

/**
 * Puts this machine's files into a request to a server, which would take the paths for its own files. No link is
 * followed: a program that had the folder could have left it, to get what it leads to.
 * @throws INVALID_REQUEST for a path outside the current folder, for a link, an unreadable file, and above 16 MiB
 */
export async function inlineFiles(option: string, paths: readonly string[]): Promise<readonly InlineFile[]> {
  let bytes = 0;
  const files: InlineFile[] = [];
  for (const given of paths) {
    const relative = pathBelow(given);
    if (relative === null) throw notBelow(option, given);
    const content = await readGiven(option, given, maxFilesBytes - bytes);
    if (content === null) throw tooMuch(option);
    bytes += content.length;
    const encoding = isUtf8(content) ? "utf8" : "base64";
    files.push({ path: relative, content: content.toString(encoding), encoding });
  }
  return files;
}

/** Null: more than `maxBytes`. */
async function readGiven(option: string, given: string, maxBytes: number): Promise<Buffer | null> {
  try {
    const read = await readWithoutLinks(path.resolve(given), { maxBytes, platform: readHost().platform });
    if ("bytes" in read) return Buffer.from(read.bytes);
    if (read.reason === "too large") return null;
    throw invalidField(option, "a file", given);
  } catch (error) {
    if (error instanceof GloveboxError && error.errorType !== "NOT_FOUND") throw error;
    const reason = error instanceof GloveboxError ? "which does not exist" : errorCode(error);
    throw invalidField(option, "a file that can be read", `${given} (${reason})`, error);
  }
}

/** A program finds a file at its path from the current folder, and there is none for one that lies elsewhere. */
function notBelow(option: string, given: string): GloveboxError {
  const message = `${option}: a server gets only files below the current folder, under their paths from it; found ${given}.`;
  return new GloveboxError("INVALID_REQUEST", message, {
    suggestion: "Copy the file into the current folder, or unset GLOVEBOX_URL to run on this machine.",
    context: { field: option },
  });
}

function tooMuch(option: string): GloveboxError {
  const limit = formatBytes(maxFilesBytes);
  const message = `${option}: a server takes at most ${limit} of files with a request, found more.`;
  return new GloveboxError("INVALID_REQUEST", message, {
    suggestion: `Bring at most ${limit}, or unset GLOVEBOX_URL: a sandbox of this machine takes files up to --disk.`,
    context: { field: option },
  });
}
