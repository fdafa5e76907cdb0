import { strangeAnswer } from "./network-failure.ts";

/**
 * Maximum characters of one line: an answer with two streams of output at their cap, and its files, written as JSON.
 */
const maxLineCharacters = 268_435_456;

/** The lines of a body as they come; the last one needs no newline. @throws NETWORK_ERROR for one that is too long */
export async function* readLines(
  { body }: Pick<Response, "body">,
  maxCharacters: number = maxLineCharacters,
): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });
  let [pieces, length]: [string[], number] = [[], 0];
  const line = (last: string): string => {
    const whole = [...pieces, last].join("");
    [pieces, length] = [[], 0];
    return whole;
  };
  const reader = body?.getReader();
  try {
    for (;;) {
      const next = await reader?.read();
      if (next?.value === undefined) break;
      const parts = decoder.decode(next.value as Uint8Array, { stream: true }).split("\n");
      const rest = parts.pop() ?? "";
      for (const part of parts) yield line(part);
      pieces.push(rest);
      length += rest.length;
      if (length > maxCharacters) throw strangeAnswer(`a line of more than ${maxCharacters} characters`);
    }
    const last = line(decoder.decode());
    if (last !== "") yield last;
  } finally {
    // A reader that stops early needs nothing more of it.
    await reader?.cancel().catch(() => undefined);
  }
}
