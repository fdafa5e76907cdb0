import type { OutputChunk } from "../engine.ts";

/** Longer than any message of an engine. */
const maxBytes = 512;

/**
 * The chunks without what an engine itself wrote last to standard error, in a program's place; `pattern` ends with `$`.
 */
export function withoutLastWords(chunks: readonly OutputChunk[], pattern: RegExp): readonly OutputChunk[] {
  return chunks.flatMap((chunk) => {
    if (chunk.stream !== "stderr") return [chunk];
    const tail = Buffer.from(chunk.bytes.subarray(-maxBytes)).toString("latin1");
    const found = pattern.exec(tail);
    if (found === null) return [chunk];
    const bytes = chunk.bytes.subarray(0, chunk.bytes.length - found[0].length);
    return bytes.length === 0 ? [] : [{ stream: chunk.stream, bytes }];
  });
}
