import { parseJsonObject, type JsonObject } from "../commands/json-fields.ts";

/** Longest line that is read; of a longer one only the length is reported. */
const maxLineBytes = 33_554_432;
const lineFeed = 10;

export interface LineReader {
  /** A line that is a JSON object, unchanged, without the line feed. */
  readonly onObject: (object: JsonObject, line: Buffer) => void;
  /** Any other line. */
  readonly onOther: (text: string) => void;
}

/** Splits bytes into lines. Only line feeds end a line: other line separators may occur inside JSON. */
export class JsonLines {
  readonly #reader: LineReader;
  #pieces: Buffer[] = [];
  #bytes = 0;

  constructor(reader: LineReader) {
    this.#reader = reader;
  }

  append(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, start)) {
      this.#extend(chunk.subarray(start, end));
      this.#endLine();
      start = end + 1;
    }
    this.#extend(chunk.subarray(start));
  }

  /** Reads the rest after the last line feed. */
  end(): void {
    if (this.#bytes > 0) this.#endLine();
  }

  #extend(piece: Buffer): void {
    this.#bytes += piece.length;
    if (this.#bytes > maxLineBytes) this.#pieces = [];
    else if (piece.length > 0) this.#pieces.push(piece);
  }

  #endLine(): void {
    const [bytes, pieces] = [this.#bytes, this.#pieces];
    this.#pieces = [];
    this.#bytes = 0;
    if (bytes > maxLineBytes) return this.#reader.onOther(`[a line of ${bytes} bytes]`);
    const line = Buffer.concat(pieces);
    const text = line.toString("utf8");
    const object = parseJsonObject(text);
    if (object !== null) this.#reader.onObject(object, line);
    else if (text.trim() !== "") this.#reader.onOther(text);
  }
}
