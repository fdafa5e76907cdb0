import { GloveboxError } from "../errors/glovebox-error.ts";

/** The process that owns the sandbox has ended, or is about to. */
export function ownerLost(cause?: unknown): GloveboxError {
  return new GloveboxError("SANDBOX_LOST", "The process that owns the sandbox has ended or does not answer.", {
    suggestion: "`glovebox ps` lists the sandboxes that there are; `glovebox prune` removes what ended processes left.",
    cause,
  });
}

/** Why a connection ended before its answer, from the connection's error. */
export function brokenPeer(cause: unknown): GloveboxError {
  if (!(cause instanceof Error)) return ownerLost();
  const { code = "", message } = cause as NodeJS.ErrnoException;
  // Error messages of `ws` and of Node's HTTP parser for an answer that is not from a WebSocket of this version.
  const isOther = message.startsWith("Unexpected server response") || code.startsWith("HPE_");
  return isOther ? otherVersion(cause) : ownerLost(cause);
}

function otherVersion(cause: unknown): GloveboxError {
  return new GloveboxError("UNSUPPORTED", "The sandbox belongs to a process of another version of Glovebox.", {
    suggestion: "Use the command of that version, or restart that process with this one.",
    cause,
  });
}
