import type { z } from "zod";
import type { Denial } from "../policy/network/denial.ts";
import type { Caller } from "../sandbox/sandboxes.ts";
import type { TerminalSize } from "../sandbox/terminal/terminal-size.ts";

/** What an operation reports while it works, in the order it happened. */
export type OperationEvent =
  /** The sandbox that will run it exists under this id; comes before any output. */
  | { readonly type: "sandbox"; readonly sandboxId: string }
  /** Bytes the program wrote. */
  | { readonly type: "output"; readonly stream: "stdout" | "stderr"; readonly bytes: Uint8Array }
  /** The network policy refused a connection of the program. */
  | { readonly type: "denied"; readonly denial: Denial }
  /** Something slow goes on; `fraction` is null while unknown. */
  | { readonly type: "progress"; readonly message: string; readonly fraction: number | null }
  /** Whether the program has a terminal; without one the caller's own must edit lines and show what is typed. */
  | { readonly type: "terminal"; readonly isHeld: boolean }
  /** Something the caller should know, once. */
  | { readonly type: "warning"; readonly message: string };

/** Who asks, how to give up, and where to hear of progress. */
export interface OperationCall extends Caller {
  /** Calls over one connection share the session that they do not name; undefined for single requests. */
  readonly connection?: string | undefined;
  /** Standard input of the program as a stream; instead of the request's `stdin`. */
  readonly stdin?: AsyncIterable<Uint8Array> | undefined;
  /** Sizes of the caller's terminal, each time it changes; for operations that hold one. */
  readonly sizes?: AsyncIterable<TerminalSize> | undefined;
  /** Awaited for output, so that a slow listener slows the program instead of growing the memory. */
  readonly onEvent?: ((event: OperationEvent) => void | Promise<void>) | undefined;
}

/** One thing that can be asked for: one schema for the question, one for the answer, one function. */
export interface Operation<Request extends z.ZodType, Response extends z.ZodType, Context> {
  /** snake_case; the MCP tool's name where there is one. */
  readonly name: string;
  /** What it does and when to use it, for documentation and agents. */
  readonly description: string;
  readonly request: Request;
  readonly response: Response;
  run(context: Context, request: z.output<Request>, call: OperationCall): Promise<z.output<Response>>;
}
