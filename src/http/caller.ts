import type { FastifyRequest } from "fastify";
import type { OperationCall } from "../operations/contract/operation-contract.ts";

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
