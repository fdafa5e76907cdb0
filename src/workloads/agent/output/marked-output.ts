import { outputMarkers } from "../agent-container.ts";

/** What was found between the markers: the text of the last complete pair. */
export type MarkedText =
  | { readonly found: "pair"; readonly text: string }
  /** No start marker, or one without its end. */
  | { readonly found: "none" | "start" }
  /** The last pair had more than may be kept. */
  | { readonly found: "tooLong" };

const markerLengths = [outputMarkers.start.length, outputMarkers.end.length];

/** Bytes of a line that could be a marker with blanks around it. */
const maxMarkerLine = Math.max(...markerLengths) + 6;
const minMarkerLine = Math.min(...markerLengths);
const newline = 0x0a;

/**
 * Finds the answer in a live stream (SPEC AG1), whatever is kept of the stream elsewhere. A marker is a line of its own:
 * in the middle of a line it is text. A start marker begins anew, an end marker without a start is text.
 *
 * It holds one line's beginning and at most `maxBytes` between two markers, for the pair that is complete as for the one
 * that is open.
 */
export class MarkedOutput {
  readonly #maxBytes: number;
  /** Beginning of the line that is being read, as far as a marker could need it. */
  readonly #lineStart = Buffer.alloc(maxMarkerLine);
  #lineLength = 0;
  #open: GrowingBytes | null = null;
  #last: MarkedText = { found: "none" };

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  append(bytes: Uint8Array): void {
    for (let from = 0; from < bytes.length;) {
      const at = bytes.indexOf(newline, from);
      const to = at === -1 ? bytes.length : at;
      this.#appendToLine(bytes.subarray(from, to));
      if (at !== -1) this.#endLine();
      from = to + 1;
    }
  }

  /** What there was when the stream ended; its last line needs no newline. */
  end(): MarkedText {
    this.#endLine();
    if (this.#open === null || this.#last.found !== "none") return this.#last;
    return { found: "start" };
  }

  #appendToLine(part: Uint8Array): void {
    if (this.#lineLength < maxMarkerLine) {
      this.#lineStart.set(part.subarray(0, maxMarkerLine - this.#lineLength), this.#lineLength);
    }
    this.#lineLength += part.length;
    this.#open?.append(part);
  }

  #endLine(): void {
    const length = this.#lineLength;
    const line =
      length < minMarkerLine || length > maxMarkerLine ? null : this.#lineStart.toString("latin1", 0, length);
    this.#lineLength = 0;
    if (line?.trim() === outputMarkers.start) {
      this.#open = new GrowingBytes(this.#maxBytes + maxMarkerLine);
    } else if (line?.trim() === outputMarkers.end && this.#open !== null) {
      this.#last = textOf(this.#open, length, this.#maxBytes);
      this.#open = null;
    } else {
      this.#open?.append(newlineBytes);
    }
  }
}

const newlineBytes = Uint8Array.of(newline);

/** The text of a pair without its end marker, which was kept like every line. */
function textOf(pair: GrowingBytes, markerLength: number, maxBytes: number): MarkedText {
  const length = pair.length - markerLength;
  return length > maxBytes ? { found: "tooLong" } : { found: "pair", text: pair.text(length) };
}

const firstBytes = 4_096;

/** Bytes one after another, in one buffer, so that many small parts take no more than a large one. */
class GrowingBytes {
  readonly #maxBytes: number;
  #bytes = Buffer.alloc(firstBytes);
  /** Of all that came, also of what was not kept. */
  length = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  append(part: Uint8Array): void {
    const length = this.length + part.length;
    if (length <= this.#maxBytes) {
      if (length > this.#bytes.length) this.#grow(length);
      this.#bytes.set(part, this.length);
    }
    this.length = length;
  }

  text(length: number): string {
    return this.#bytes.toString("utf8", 0, length);
  }

  #grow(length: number): void {
    const larger = Buffer.alloc(Math.min(this.#maxBytes, Math.max(length, this.#bytes.length * 2)));
    larger.set(this.#bytes);
    this.#bytes = larger;
  }
}
