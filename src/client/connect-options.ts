import type { CallSignal } from "../library/objects/call-options.ts";

/** How to reach a server. */
export interface HttpCallerOptions {
  /** The server, such as `http://127.0.0.1:8420`; its routes may be below a path. */
  readonly url: string;
  /** An API key, or the token of a server on this machine; default: none. */
  readonly key?: string | undefined;
  /** Cancels every call. */
  readonly signal?: CallSignal | undefined;
  /**
   * How many times to retry a call that the server has no capacity for (CAPACITY), each after the delay that the server
   * asks for; default 0.
   */
  readonly maxRetries?: number | undefined;
}

/** How to reach a server, and whether programs that fail throw. */
export interface ConnectOptions extends HttpCallerOptions {
  /** Throw `ProgramError` for programs that fail; default false. Each call can override it. */
  readonly throwOnError?: boolean | undefined;
}
