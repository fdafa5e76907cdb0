import type { Duplex } from "node:stream";
import { nothingListens } from "../../engines/port-errors.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";

/** A started program, and where it runs. */
export interface ConnectableProgram {
  readonly sandbox: Pick<Sandbox, "connect">;
}

/** Connects to a port of a program, once it has started. @throws NETWORK_ERROR if nothing listens */
export function connectToProgram(
  program: ConnectableProgram | null,
  port: number,
  signal: AbortSignal,
): Promise<Duplex> {
  return program === null ? Promise.reject(nothingListens(port)) : program.sandbox.connect(port, { signal });
}
