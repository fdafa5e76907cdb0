/** Longest line that is kept: far more than engines send. */
const maxLineChars = 1_048_576;

/** The JSON values of a stream with one on each line. Lines that are not JSON are skipped. */
export async function* jsonLines(stream: AsyncIterable<Uint8Array>): AsyncGenerator<unknown, void, undefined> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of stream) {
    const lines = `${text}${decoder.decode(bytes, { stream: true })}`.split("\n");
    text = lines.pop() ?? "";
    if (text.length > maxLineChars) text = "";
    yield* lines.flatMap(parsed);
  }
  yield* parsed(text);
}

function parsed(line: string): unknown[] {
  try {
    return line.trim() === "" ? [] : [JSON.parse(line) as unknown];
  } catch {
    return [];
  }
}
