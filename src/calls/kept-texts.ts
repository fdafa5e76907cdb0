import { mebibyte } from "../base/bytes.ts";

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
  readonly storedMs: number;
}

/** What answers left out, kept for a while and within bounds, by URI. */
export class KeptTexts {
  readonly #monotonicMs: () => number;
  readonly #texts = new Map<string, KeptText>();
  #characters = 0;

  constructor(monotonicMs: () => number) {
    this.#monotonicMs = monotonicMs;
  }

  /** Its URI, or null if it is too long to be kept. */
  store(cut: ShortenedField, call: TextSource): string | null {
    if (cut.whole.length > maxCharacters) return null;
    const uri = `glovebox://runs/${call.id}/${encodeURIComponent(cut.field.replaceAll(/\[(\d+)\]/g, ".$1"))}`;
    this.#forget(this.#texts.get(uri));
    this.#texts.set(uri, {
      uri,
      principal: call.principal,
      operation: call.operation,
      field: cut.field,
      text: cut.whole,
      mediaType: cut.mediaType,
      storedMs: this.#monotonicMs(),
    });
    this.#characters += cut.whole.length;
    this.#forgetOld();
    return uri;
  }

  /** The principal's own, newest last. */
  list(principal: string): readonly KeptText[] {
    this.#forgetOld();
    return [...this.#texts.values()].filter((text) => text.principal === principal);
  }

  find(uri: string, principal: string): KeptText | null {
    return this.list(principal).find((text) => text.uri === uri) ?? null;
  }

  #forgetOld(): void {
    const storedBefore = this.#monotonicMs() - keptForMs;
    for (const text of this.#texts.values()) {
      if (text.storedMs >= storedBefore && this.#characters <= maxCharacters) return;
      this.#forget(text);
    }
  }

  #forget(text: KeptText | undefined): void {
    if (text !== undefined && this.#texts.delete(text.uri)) this.#characters -= text.text.length;
  }
}
