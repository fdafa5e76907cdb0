import type { Duplex } from "node:stream";
import { nothingListens } from "../../../engines/port-errors.ts";
import type { Sandbox } from "../../../sandbox/sandbox.ts";

/** A program that has begun, and where. */
export interface ConnectableProgram {
  readonly sandbox: Pick<Sandbox, "connect">;
}

/** A connection to a port of a program, once it has begun. @throws NETWORK_ERROR when nothing listens */
export function connectToProgram(
  program: ConnectableProgram | null,
  port: number,
  signal: AbortSignal,
): Promise<Duplex> {
  return program === null ? Promise.reject(nothingListens(port)) : program.sandbox.connect(port, { signal });
}
