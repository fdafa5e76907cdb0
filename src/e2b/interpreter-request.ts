import type { E2bContext } from "./e2b-context.ts";
import type { Exchange } from "./exchange.ts";
import type { E2bSandbox } from "./e2b-sandbox.ts";

/** A request to the code interpreter of a sandbox, whose token was checked. */
export interface InterpreterRequest {
  readonly context: E2bContext;
  readonly exchange: Exchange;
  readonly sandbox: E2bSandbox;
}
