import type { OperationEvent, SignalToSend } from "../../operations/contract/operation-event.ts";

/** An `AbortSignal`, in projects whose libraries know one; of others nothing can be asked. */
export type CallSignal = typeof globalThis extends { AbortSignal: { prototype: infer Known } } ? Known : unknown;

/** How to follow a call and give it up. */
export interface CallOptions {
  /**
   * Ends the call and what it started. A program that had begun has the outcome `cancelled`; every other call, and every
   * one of a client, throws CANCELLED.
   */
  readonly signal?: CallSignal | undefined;
  /** Receives what happens meanwhile: the sandbox's id, output, refused connections, progress. Awaited for output. */
  readonly onEvent?: ((event: OperationEvent) => void | Promise<void>) | undefined;
}

/** How to follow a program and give it up. */
export interface RunOptions extends CallOptions {
  /** The program's standard input as a stream of bytes, instead of the option `stdin`. */
  readonly stdin?: AsyncIterable<Uint8Array> | undefined;
  /** Throws `ProgramError` for a program that did not end well; default: what Glovebox was opened with, else false. */
  readonly throwOnError?: boolean | undefined;
}

/** How to follow a program in a live sandbox, give it up, and send it signals. */
export interface SandboxRunCall extends RunOptions {
  /** Signals for the program, each as it is wanted; SIGKILL ends it with all that it started. */
  readonly signals?: AsyncIterable<SignalToSend> | undefined;
}

/** Keyboard and size of a terminal that is lent to a program. */
export interface TerminalCall extends CallOptions {
  /** What is typed; its end hangs up. */
  readonly stdin?: AsyncIterable<Uint8Array> | undefined;
  /** Sizes of the terminal in characters, each time it changes. */
  readonly sizes?: AsyncIterable<{ readonly columns: number; readonly rows: number }> | undefined;
}
