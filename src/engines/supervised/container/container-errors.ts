import { GloveboxError } from "../../../errors/glovebox-error.ts";

/** What is asked needs a container that runs. */
export function notRunning(title: string): GloveboxError {
  return new GloveboxError("SANDBOX_LOST", `The container on ${title} does not run, or does not answer.`);
}

/** The error of work whose container disappeared without our doing. */
export function lostError(title: string, cause?: unknown): GloveboxError {
  return new GloveboxError("SANDBOX_LOST", `The container on ${title} ended for a reason outside Glovebox.`, { cause });
}

/** Only a command of its own can be attached to. */
export function nothingToAttachTo(): GloveboxError {
  return new GloveboxError(
    "UNSUPPORTED",
    "A container without a command of its own has no main process to attach to.",
    {
      suggestion: "Run a program with exec, or give the container a command.",
    },
  );
}

/** Its streams must be there before it is. */
export function attachedTooLate(): GloveboxError {
  return new GloveboxError("UNSUPPORTED", "A container's main process is attached to once, before its start.");
}
