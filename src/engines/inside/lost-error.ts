import { GloveboxError } from "../../errors/glovebox-error.ts";

/** The error of work whose container disappeared without our doing. */
export function lostError(title: string, cause?: unknown): GloveboxError {
  return new GloveboxError("SANDBOX_LOST", `The container on ${title} ended for a reason outside Glovebox.`, { cause });
}
