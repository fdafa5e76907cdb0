import { errorCatalogue } from "../../errors/catalogue.ts";
import type { GloveboxError } from "../../errors/glovebox-error.ts";
import { HttpRefusal } from "./http-refusal.ts";
import { hasLongText, jsonParts } from "./json-parts.ts";

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
