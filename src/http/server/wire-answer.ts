import { errorCatalogue } from "../../errors/catalogue.ts";
import type { GloveboxError } from "../../errors/glovebox-error.ts";
import { HttpRefusal } from "./http-refusal.ts";

/** An answer as it goes out: a JSON text and its status. */
export interface WireAnswer {
  readonly status: number;
  readonly body: string;
  readonly isError: boolean;
  /** When the same request may be retried; null: unspecified. */
  readonly retryAfterSeconds: number | null;
}

export const jsonType = "application/json; charset=utf-8";

/** For errors that are retryable without a given delay. */
const defaultRetrySeconds = 5;

export function answerOf(response: unknown): WireAnswer {
  return { status: 200, body: JSON.stringify(response), isError: false, retryAfterSeconds: null };
}

export function answerOfError(error: GloveboxError): WireAnswer {
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
