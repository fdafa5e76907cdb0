import { AssertionError } from "node:assert";
import { GloveboxError } from "../../src/errors/glovebox-error.ts";
import type { ErrorType } from "../../src/errors/catalogue.ts";

/** The `GloveboxError` that the work fails with; anything else, even success, fails the test. */
export async function failureOf(work: Promise<unknown>, expected: ErrorType): Promise<GloveboxError> {
  const error = await rejectionOf(work);
  if (!(error instanceof GloveboxError)) throw new Error("Not a GloveboxError.", { cause: error });
  if (error.errorType !== expected) {
    throw new AssertionError({ message: `Expected ${expected}, got ${error.errorType}: ${error.message}` });
  }
  return error;
}

async function rejectionOf(work: Promise<unknown>): Promise<unknown> {
  let result: unknown;
  try {
    result = await work;
  } catch (error) {
    return error;
  }
  throw new AssertionError({ message: `Expected a failure, got ${JSON.stringify(result)}.` });
}
