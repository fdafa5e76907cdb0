import { mebibyte } from "../base/bytes.ts";
import { Kept } from "../base/kept.ts";

/** Maximum characters kept in total; the oldest text is dropped first. */
const maxCharacters = 64 * mebibyte;
/** How long a text is kept. */
const keptForMs = 15 * 60_000;

/** A field of an answer that was shortened. */
export interface ShortenedField {
  /** Path of the field, such as `stdout` or `artifacts[0].content`. */
  readonly field: string;
  /** The full value: the text itself, or a list as JSON. */
  readonly whole: string;
  /** Bytes written as base64, of this media type; null for text. */
  readonly mediaType: string | null;
}

/** The call that a text belongs to. */
export interface TextSource {
  /** The call's `run_id`. */
  readonly id: string;
  readonly principal: string;
  readonly operation: string;
}

/** A long field of an answer, in full. */
export interface KeptText {
  readonly uri: string;
  readonly principal: string;
  readonly operation: string;
  readonly field: string;
  readonly text: string;
  /** Media type of the bytes that `text` encodes as base64; null for text. */
  readonly mediaType: string | null;
}

/** What answers left out, kept for a while and within bounds, by URI. */
export class KeptTexts {
  readonly #texts: Kept<KeptText>;

  constructor(monotonicMs: () => number) {
    this.#texts = new Kept({ now: monotonicMs, forMs: keptForMs, maxSize: maxCharacters });
  }

  /** Its URI, or null if it is too long to be kept. */
  store(cut: ShortenedField, call: TextSource): string | null {
    const uri = `glovebox://runs/${call.id}/${encodeURIComponent(cut.field.replaceAll(/\[(\d+)\]/g, ".$1"))}`;
    const { principal, operation } = call;
    const { field, whole: text, mediaType } = cut;
    const kept = { uri, principal, operation, field, text, mediaType };
    return this.#texts.set(uri, kept, { size: text.length }) ? uri : null;
  }

  /** The principal's own, newest last. */
  list(principal: string): readonly KeptText[] {
    return this.#texts.valuesOf("").filter((text) => text.principal === principal);
  }

  find(uri: string, principal: string): KeptText | null {
    const text = this.#texts.get(uri);
    return text?.principal === principal ? text : null;
  }
}
