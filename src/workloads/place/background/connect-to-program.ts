import type { Duplex } from "node:stream";
import { nothingListens } from "../../../engines/port-errors.ts";
import type { Process } from "../../../engines/engine.ts";
import type { Sandbox } from "../../../sandbox/sandbox.ts";

/** A program that has begun, and where. */
export interface ConnectableProgram {
  readonly process: Pick<Process, "connect">;
  readonly sandbox: Pick<Sandbox, "connect">;
}

/** A connection to a port of a program, on its own loopback where it has one. @throws NETWORK_ERROR when nothing listens */
export function connectToProgram(
  program: ConnectableProgram | null,
  port: number,
  signal: AbortSignal,
): Promise<Duplex> {
  if (program === null) return Promise.reject(nothingListens(port));
  const { process, sandbox } = program;
  return process.connect === undefined ? sandbox.connect(port, { signal }) : process.connect(port, { signal });
}
