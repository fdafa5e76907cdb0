import type { CallSignal } from "../library/objects/call-options.ts";

/** How a server is reached. */
export interface HttpCallerOptions {
  /** The server, such as `http://127.0.0.1:8420`; a path before its routes may stand behind it. */
  readonly url: string;
  /** An API key, or on the server's own machine its token; default: none is sent. */
  readonly key?: string | undefined;
  /** Gives up every call. */
  readonly signal?: CallSignal | undefined;
  /** How often a call that the server has no room for (CAPACITY) is sent again, after the time that it names; default 0. */
  readonly maxRetries?: number | undefined;
}

/** How a server is reached, and what its programs that fail do. */
export interface ConnectOptions extends HttpCallerOptions {
  /** Programs that do not end well throw `ProgramError`; default false. Each call can say otherwise. */
  readonly throwOnError?: boolean | undefined;
}
