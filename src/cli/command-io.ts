import type { Readable } from "node:stream";
import type { OutputStream } from "./output/program-output.ts";

/** Everything a command may use of the process it runs in. */
export interface CommandIo {
  readonly stdin: Readable & { readonly isTTY?: boolean; setRawMode?(isRaw: boolean): unknown };
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  /** Aborts when the user or the system asks the command to end; its reason is the exit code, 128 + N. */
  readonly signal: AbortSignal;
  /** Type of the user's terminal (`TERM`); empty if it is not set. */
  readonly term: string;
}

/** Hands a command's exit code to the caller of `runCommandLine`. */
export type SetExitCode = (exitCode: number) => void;
