import { GloveboxError } from "../errors/glovebox-error.ts";

/** A connection that failed or broke. */
export function brokenConnection(url: string, cause: unknown): GloveboxError {
  const { cause: inner } = cause as { readonly cause?: { readonly code?: unknown } };
  const code = typeof inner?.code === "string" ? ` (${inner.code})` : "";
  return new GloveboxError("NETWORK_ERROR", `The connection to ${url} failed${code}.`, {
    suggestion: "Check that the server runs at this URL (`glovebox serve`) and can be reached, then retry.",
    context: { url },
    cause,
  });
}

/** An answer that was cut off. */
export function cutAnswer(): GloveboxError {
  return new GloveboxError("NETWORK_ERROR", "The connection ended before the answer was complete.", {
    suggestion: "The server ends a run when its client disconnects. Check what is still running, then retry.",
  });
}

/** An answer that this version of Glovebox never gives. */
export function strangeAnswer(why: string, cause?: unknown): GloveboxError {
  return new GloveboxError("NETWORK_ERROR", `The answer is not from Glovebox: ${why}.`, {
    suggestion: "Check the URL, and that server and client have the same version.",
    cause,
  });
}
