import { errorCatalogue } from "../../errors/catalogue.ts";
import type { GloveboxError } from "../../errors/glovebox-error.ts";
import { HttpRefusal } from "./http-refusal.ts";
import { kibibyte } from "../../base/bytes.ts";

/** Characters of a text that are written at once; a longer one makes its JSON long. */
const partLength = 16 * kibibyte;

/** Whether a text somewhere in the value is so long that its JSON should be written in parts. */
export function hasLongText(value: unknown): boolean {
  if (typeof value === "string") return value.length > partLength;
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).some((each) => hasLongText(each));
}

/** What `JSON.stringify` makes of plain data, in parts: a long text is never copied as a whole. */
export function* jsonParts(value: unknown): Generator<string, undefined> {
  if (!hasLongText(value)) yield JSON.stringify(value) ?? "null";
  else if (typeof value === "string") yield* textParts(value);
  else if (Array.isArray(value)) {
    for (const [index, each] of value.entries()) {
      yield index === 0 ? "[" : ",";
      yield* jsonParts(each);
    }
    yield "]";
  } else {
    let before = "{";
    for (const [name, each] of Object.entries(value as object)) {
      if (each === undefined) continue;
      yield `${before}${JSON.stringify(name)}:`;
      yield* jsonParts(each);
      before = ",";
    }
    yield "}";
  }
}

function* textParts(text: string): Generator<string, undefined> {
  yield '"';
  for (let from = 0; from < text.length;) {
    let to = Math.min(from + partLength, text.length);
    // Half a pair of surrogates would be written as an escape.
    if (to < text.length && isFirstHalf(text.charCodeAt(to - 1))) to -= 1;
    yield JSON.stringify(text.slice(from, to)).slice(1, -1);
    from = to;
  }
  yield '"';
}

function isFirstHalf(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

/** A JSON text that is written in parts when it is needed, because it is long. */
export class LongJson {
  readonly #value: unknown;
  #byteLength: number | undefined;

  constructor(value: unknown) {
    this.#value = value;
  }

  /** Of its text in UTF-8. */
  get byteLength(): number {
    if (this.#byteLength === undefined) {
      this.#byteLength = 0;
      for (const part of this.parts()) this.#byteLength += Buffer.byteLength(part);
    }
    return this.#byteLength;
  }

  parts(): Iterable<string> {
    return jsonParts(this.#value);
  }
}

/** An answer as it goes out: a JSON text and its status. */
export interface WireAnswer {
  readonly status: number;
  readonly body: string | LongJson;
  readonly isError: boolean;
  /** When the same request may be retried; null: unspecified. */
  readonly retryAfterSeconds: number | null;
}

export const jsonType = "application/json; charset=utf-8";

/** The whole text of an answer, for doors that need it at once. */
export function textOf({ body }: Pick<WireAnswer, "body">): string {
  return typeof body === "string" ? body : [...body.parts()].join("");
}

/** Its bytes in UTF-8. */
export function sizeOfBody({ body }: Pick<WireAnswer, "body">): number {
  return typeof body === "string" ? Buffer.byteLength(body) : body.byteLength;
}

/** For errors that are retryable without a given delay. */
const defaultRetrySeconds = 5;

export function answerOf(response: unknown): WireAnswer {
  const body = hasLongText(response) ? new LongJson(response) : JSON.stringify(response);
  return { status: 200, body, isError: false, retryAfterSeconds: null };
}

export function answerOfError(error: GloveboxError): WireAnswer & { readonly body: string } {
  const { errorType, context } = error;
  const status = error instanceof HttpRefusal ? error.httpStatus : errorCatalogue[errorType].httpStatus;
  const { retry_after_seconds: known } = context;
  const retryAfter = typeof known === "number" ? Math.max(1, Math.ceil(known)) : defaultRetrySeconds;
  return {
    status,
    body: JSON.stringify(error.toWire()),
    isError: true,
    retryAfterSeconds: errorType === "CAPACITY" ? retryAfter : null,
  };
}
