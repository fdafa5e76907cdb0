import type { Logger } from "../base/logger.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";

/** Keeps an engine that does not answer in the log, with how to start it (SPEC RT3); other errors are their callers'. */
export function logUnavailable(logger: Logger, error: unknown): void {
  if (!(error instanceof GloveboxError) || error.errorType !== "ENGINE_UNAVAILABLE") return;
  logger.error({ context: error.context, howToStart: error.suggestion }, error.message);
}
