import { GloveboxError } from "../errors/glovebox-error.ts";

/** The process that has the sandbox went away, or is about to. */
export function ownerLost(cause?: unknown): GloveboxError {
  return new GloveboxError("SANDBOX_LOST", "The process that owns the sandbox has ended or does not answer.", {
    suggestion: "`glovebox ps` lists the sandboxes that there are; `glovebox prune` removes what ended processes left.",
    cause,
  });
}

/** Why a connection ended before its answer, by what the connection told of it. */
export function brokenPeer(cause: unknown): GloveboxError {
  if (!(cause instanceof Error)) return ownerLost();
  const { code = "", message } = cause as NodeJS.ErrnoException;
  // Words of `ws` and of Node's reader of HTTP, for an answer that is none of a WebSocket of this version.
  const isOther = message.startsWith("Unexpected server response") || code.startsWith("HPE_");
  return isOther ? otherVersion(cause) : ownerLost(cause);
}

function otherVersion(cause: unknown): GloveboxError {
  return new GloveboxError("UNSUPPORTED", "The sandbox belongs to a process of another version of Glovebox.", {
    suggestion: "Use the command of that version, or restart that process with this one.",
    cause,
  });
}
