import type { OperationEvent, SignalToSend } from "../../operations/contract/wire-values.ts";

/** An `AbortSignal` if the project's type libraries have it, else `unknown`. */
export type CallSignal = typeof globalThis extends { AbortSignal: { prototype: infer Known } } ? Known : unknown;

/** How to follow a call and abort it. */
export interface CallOptions {
  /**
   * Ends the call and what it started. `execute`, a `run` of a session or environment, tests and agents that had begun
   * resolve with the outcome `cancelled`, here as on a server; every other call throws CANCELLED.
   */
  readonly signal?: CallSignal | undefined;
  /**
   * Receives events during the call: the sandbox's id, output, refused connections, progress. Output waits for it.
   * Awaited for output.
   */
  readonly onEvent?: ((event: OperationEvent) => void | Promise<void>) | undefined;
}

/** How to follow a program and abort it. */
export interface RunOptions extends CallOptions {
  /** The program's standard input as a stream of bytes, instead of the option `stdin`. */
  readonly stdin?: AsyncIterable<Uint8Array> | undefined;
  /** Throw `ProgramError` for a program that fails; default: what Glovebox was opened with, else false. */
  readonly throwOnError?: boolean | undefined;
}

/** How to follow a program in a live sandbox, abort it, and send it signals. */
export interface SandboxRunCall extends RunOptions {
  /** Signals for the program, sent as they come; SIGKILL ends it and everything it started. */
  readonly signals?: AsyncIterable<SignalToSend> | undefined;
}

/** Keyboard and size of a terminal that is lent to a program. */
export interface TerminalCall extends CallOptions {
  /** What is typed; the end of the stream hangs up. */
  readonly stdin?: AsyncIterable<Uint8Array> | undefined;
  /** Sizes of the terminal in characters, each time it changes. */
  readonly sizes?: AsyncIterable<{ readonly columns: number; readonly rows: number }> | undefined;
}

/** The place that files and processes belong to, as named in requests. */
export type Place = { readonly sessionId: string } | { readonly envId: string };

/** A place that is known, or that is looked up before each call. */
export type PlaceSource = Place | ((call?: Pick<CallOptions, "signal">) => Promise<Place>);

export function placeOf(source: PlaceSource, call?: Pick<CallOptions, "signal">): Place | Promise<Place> {
  return typeof source === "function" ? source(call) : source;
}
