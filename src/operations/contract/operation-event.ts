import type { processSignals } from "./wire-values.ts";

/** One refused connection, explained. */
export interface RefusedConnection {
  /** The destination, as `name:port` if it has that form. */
  readonly target: string;
  /** The rule that refused it. */
  readonly rule:
    | "address"
    | "name"
    | "not_allowed"
    | "locked"
    | "port"
    | "private_address"
    | "server_name"
    | "budget"
    | "protocol";
  /** Why, in one sentence. */
  readonly reason: string;
  /** What would allow it, in one sentence. */
  readonly remedy: string;
}

/** What an operation reports while it works, in the order it happened. */
export type OperationEvent =
  /** The sandbox that will run it now exists, with this id and its caller's name for it; comes before any output. */
  | { readonly type: "sandbox"; readonly sandboxId: string; readonly name?: string | undefined }
  /** Bytes the program wrote. */
  | { readonly type: "output"; readonly stream: "stdout" | "stderr"; readonly bytes: Uint8Array }
  /** The network policy refused a connection of the program. */
  | { readonly type: "denied"; readonly denial: RefusedConnection }
  /** Something slow is in progress; `fraction` is null while unknown. */
  | { readonly type: "progress"; readonly message: string; readonly fraction: number | null }
  /** Whether the program has a terminal; if not, the caller's own must edit lines and echo what is typed. */
  | { readonly type: "terminal" }
  /** Something the caller should know, once. */
  | { readonly type: "warning"; readonly message: string };

/**
 * A signal that a program may be sent; SIGKILL ends it and everything it started, the others go to the program itself.
 */
export type SignalToSend = (typeof processSignals)[number] | "SIGKILL";
