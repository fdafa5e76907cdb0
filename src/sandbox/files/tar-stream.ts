import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { NewTreeEntry, TreeFile } from "./file-facts.ts";
import { tarEnd, tarHeader, tarPadding } from "../../base/tar.ts";

/**
 * A streamed archive of the entries. @throws INVALID_REQUEST for an entry with an invalid path or content of another
 * size
 */
export async function* encodeTar(
  entries: AsyncIterable<NewTreeEntry> | Iterable<NewTreeEntry>,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const entry of entries) {
    checkPath(entry.path);
    if ("target" in entry && !isText(entry.target)) throw invalid(entry.path, "has a target that is no path");
    yield tarHeader(entry);
    if (entry.kind !== "file") continue;
    yield* exactContent(entry);
    yield tarPadding(entry.sizeBytes);
  }
  yield tarEnd;
}

/** The size in a file's header is final once sent, so a file that grows is truncated and one that shrinks fails. */
async function* exactContent({ path, sizeBytes, chunks }: TreeFile): AsyncGenerator<Uint8Array, void, undefined> {
  let left = sizeBytes;
  for await (const chunk of chunks) {
    if (left > 0) yield chunk.subarray(0, left);
    left -= Math.min(left, chunk.length);
    if (left === 0) break;
  }
  if (left > 0) throw invalid(path, `has fewer bytes than the ${sizeBytes} that were told`);
}

function checkPath(path: string): void {
  if (path.startsWith("/")) throw invalid(path, "is not relative");
  if (path.split("/").includes("..")) throw invalid(path, "leads out of its folder");
  if (!isText(path)) throw invalid(path, "is no path");
}

function isText(path: string): boolean {
  return path.isWellFormed() && !path.includes("\0");
}

function invalid(path: string, problem: string): GloveboxError {
  return new GloveboxError("INVALID_REQUEST", `The entry ${JSON.stringify(path)} ${problem}.`, {
    suggestion: "Send the tree again; its paths are relative to its folder.",
    context: { path },
  });
}
