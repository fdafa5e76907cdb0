import { LineReader, type Line } from "../../../base/streams/line-reader.ts";

/** Longest line that is kept: far more than engines send. */
const maxLineBytes = 1_048_576;

/** The JSON values of a stream with one on each line. Lines that are not JSON are skipped. */
export async function* jsonLines(stream: AsyncIterable<Uint8Array>): AsyncGenerator<unknown, void, undefined> {
  const lines = new LineReader(maxLineBytes);
  for await (const bytes of stream) yield* lines.push(bytes).flatMap(parsed);
  yield* lines.end().flatMap(parsed);
}

function parsed({ bytes }: Line): unknown[] {
  try {
    const line = bytes.toString("utf8");
    return line.trim() === "" ? [] : [JSON.parse(line) as unknown];
  } catch {
    return [];
  }
}
