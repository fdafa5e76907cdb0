import type { ErrorType } from "../../errors/catalogue.ts";
import { GloveboxError, type GloveboxErrorOptions } from "../../errors/glovebox-error.ts";

/** A refusal at the HTTP level (no token, unknown method, too large), with its HTTP status. */
export class HttpRefusal extends GloveboxError {
  readonly httpStatus: number;

  constructor(httpStatus: number, errorType: ErrorType, message: string, options: GloveboxErrorOptions = {}) {
    super(errorType, message, { suggestion: options.suggestion ?? "", context: options.context ?? {} });
    this.httpStatus = httpStatus;
  }
}
