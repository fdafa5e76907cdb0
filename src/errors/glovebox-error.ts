import { errorCatalogue, type ErrorType } from "./catalogue.ts";

/** What the thrower may add to an error beyond its message. */
export interface GloveboxErrorOptions {
  /** What an agent can do about it; defaults to the catalogue's text for the type. */
  readonly suggestion?: string;
  /** Facts for programs, in snake_case; must not contain secrets, stack traces or host paths. */
  readonly context?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

/** The one shape of an error on the wire. */
export interface WireError {
  readonly error_type: ErrorType;
  readonly message: string;
  readonly suggestion: string;
  readonly context: Readonly<Record<string, unknown>>;
}

/** The only error class that leaves Glovebox: the platform failed, or refused. */
export class GloveboxError extends Error {
  override readonly name = "GloveboxError";
  readonly errorType: ErrorType;
  readonly suggestion: string;
  readonly context: Readonly<Record<string, unknown>>;

  constructor(errorType: ErrorType, message: string, options: GloveboxErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.errorType = errorType;
    this.suggestion = options.suggestion ?? errorCatalogue[errorType].suggestion;
    this.context = options.context ?? {};
  }

  /** Whether the same request may succeed when retried unchanged. */
  get retryable(): boolean {
    return errorCatalogue[this.errorType].retryable;
  }

  toWire(): WireError {
    return {
      error_type: this.errorType,
      message: this.message,
      suggestion: this.suggestion,
      context: this.context,
    };
  }
}

/** The error as a `GloveboxError`: itself, or an `INTERNAL` one that keeps it as its cause and shows nothing of it. */
export function toGloveboxError(error: unknown): GloveboxError {
  if (error instanceof GloveboxError) return error;
  // An error during cleanup must not hide the original one.
  if (typeof error === "object" && error !== null && "suppressed" in error) return toGloveboxError(error.suppressed);
  return new GloveboxError("INTERNAL", "Glovebox failed unexpectedly.", { cause: error });
}

/** Whether the sandbox that was asked is no more: lost, or out of memory as a whole. */
export function isSandboxLoss(error: unknown): boolean {
  return error instanceof GloveboxError && (error.errorType === "SANDBOX_LOST" || error.errorType === "OOM_KILLED");
}

/** An `INVALID_REQUEST` that names the field, what was expected and what was given. */
export function invalidField(field: string, expected: string, received: unknown, cause?: unknown): GloveboxError {
  const shown = showValue(received);
  return new GloveboxError("INVALID_REQUEST", `${field}: expected ${expected}, got ${shown}.`, {
    suggestion: `Correct ${field}: ${expected}.`,
    context: { field },
    cause,
  });
}

/**
 * The code of one of Node's own errors, such as `ENOENT`; empty for other errors.
 *
 * Recognised by its fields, not by `instanceof`: if our code runs in a realm of its own, as under Jest, Node's errors
 * are not instances of that realm's `Error`.
 */
export function errorCode(error: unknown): string {
  if (typeof error !== "object" || error === null || !("code" in error)) return "";
  return typeof error.code === "string" ? error.code : "";
}

function showValue(value: unknown): string {
  if (value === undefined) return "nothing";
  if (typeof value === "string") return JSON.stringify(value.slice(0, 80));
  if (Array.isArray(value)) return "a list";
  if (typeof value === "number" || typeof value === "boolean" || value === null) return String(value);
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}
