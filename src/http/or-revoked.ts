import { GloveboxError } from "../errors/glovebox-error.ts";

/** Time for work whose caller's key was revoked to end by itself, with what it has. */
const lastWorkMs = 700;

/** The error for what a revoked key still had open. */
export function keyEnded(): GloveboxError {
  return new GloveboxError("CANCELLED", "The API key was revoked or has expired, and everything it had running ends.", {
    suggestion: "Ask the operator for another key.",
    context: { reason: "key_revoked" },
  });
}

/**
 * The answer, or CANCELLED if it is not there a moment after its caller's key was revoked: engines may take longer to end
 * what is running, and the connection is closed meanwhile.
 */
export async function orRevoked<T>(answer: Promise<T>, revoked: AbortSignal | undefined): Promise<T> {
  if (revoked === undefined) return answer;
  const { promise: late, reject } = Promise.withResolvers<never>();
  let timer: NodeJS.Timeout | undefined;
  const onRevoked = (): void => {
    timer = setTimeout(() => reject(keyEnded()), lastWorkMs).unref();
  };
  if (revoked.aborted) onRevoked();
  else revoked.addEventListener("abort", onRevoked, { once: true });
  try {
    return await Promise.race([answer, late]);
  } catch (error) {
    const isOurs = revoked.aborted && error instanceof GloveboxError && error.errorType === "CANCELLED";
    throw isOurs ? keyEnded() : error;
  } finally {
    clearTimeout(timer);
    revoked.removeEventListener("abort", onRevoked);
    answer.catch(() => {
      // Its caller has been told.
    });
  }
}
