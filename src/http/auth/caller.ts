import type { FastifyRequest } from "fastify";

/** Who makes a request; everything that it does is the principal's. */
export interface Caller {
  readonly principal: string;
}

/** Tells whose token that is; null: no one's. `bearer` is empty when none was shown. */
export type Authenticate = (bearer: string) => Caller | null | Promise<Caller | null>;

/** Looks at a request once its caller is known, and may refuse it. @throws CAPACITY for too many, or any other error */
export type RequestCheck = (caller: Caller, request: FastifyRequest) => void | Promise<void>;

declare module "fastify" {
  interface FastifyRequest {
    /** Null on routes that are open to everyone. */
    caller: Caller | null;
  }
  interface FastifyContextConfig {
    /** Whether no token is asked for. */
    readonly isOpen?: boolean;
  }
}

/** The caller of a route that is not open. */
export function callerOf({ caller }: FastifyRequest): Caller {
  if (caller === null) throw new TypeError("The route is open: it has no caller.");
  return caller;
}
