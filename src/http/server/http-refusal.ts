import type { ErrorType } from "../../errors/catalogue.ts";
import { GloveboxError, type GloveboxErrorOptions } from "../../errors/glovebox-error.ts";

/** A refusal of HTTP's own (no token, no such method, too large), with the status that HTTP has for it. */
export class HttpRefusal extends GloveboxError {
  readonly httpStatus: number;

  constructor(httpStatus: number, errorType: ErrorType, message: string, options: GloveboxErrorOptions = {}) {
    super(errorType, message, { suggestion: options.suggestion ?? "", context: options.context ?? {} });
    this.httpStatus = httpStatus;
  }
}
