import type { FastifyRequest } from "fastify";
import type { OperationCall } from "../operations/contract/operation-contract.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";

/** Who makes a request; everything that it creates belongs to the principal. */
export interface Caller {
  readonly principal: string;
  /** Aborts when the caller's key is revoked or expires: responses in progress then end. */
  readonly revoked?: AbortSignal | undefined;
  /** As in `OperationCall`, for this one request. */
  readonly within?: OperationCall["within"];
  /** Counts one request. @throws CAPACITY for one too many */
  readonly countRequest?: (() => void) | undefined;
}

/** Identifies the owner of a token; null: nobody. `bearer` is empty if none was sent. */
export type Authenticate = (bearer: string) => Caller | null | Promise<Caller | null>;

declare module "fastify" {
  interface FastifyRequest {
    /** Null on routes that are open to everyone. */
    caller: Caller | null;
  }
  interface FastifyContextConfig {
    /** Whether no token is required. */
    readonly isOpen?: boolean;
  }
}

/** The caller of a route that is not open. */
export function callerOf({ caller }: FastifyRequest): Caller {
  if (caller === null) throw new TypeError("The route is open: it has no caller.");
  return caller;
}

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
