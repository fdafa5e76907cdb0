import { GloveboxError } from "../../../errors/glovebox-error.ts";
import type { StreamEnd } from "../channel/stream.ts";
import { argumentsTooLong } from "../channel/spawn-strings.ts";
import { errnoName, errnoText } from "../frames/linux-errno.ts";

/** A program that was never started: what a shell would write, and its exit code. */
export interface StartFailure {
  /** 127: there is no such program; 126: it cannot be run. */
  readonly exitCode: 126 | 127;
  readonly message: string;
}

/**
 * Why a program was not started, where that is the program's or its container's affair.
 * @throws INVALID_REQUEST for more arguments than the kernel takes, CAPACITY when too much runs, SANDBOX_LOST for what must
 * not fail
 */
export function startFailure(end: StreamEnd, program: string, folder: string): StartFailure {
  const { stage, errno } = end;
  const reason = errnoText(errno);
  if (stage === "PROGRAM") {
    if (errnoName(errno) === "ENOENT") return { exitCode: 127, message: `${program}: not found` };
    if (errnoName(errno) === "E2BIG") throw argumentsTooLong(program);
    return { exitCode: 126, message: `${program}: ${reason}` };
  }
  if (stage === "FOLDER") {
    return { exitCode: 126, message: `cannot enter the working directory ${folder}: ${reason}` };
  }
  if (stage === "FORK" || stage === "PIPES" || stage === "TERMINAL") {
    return { exitCode: 126, message: `${program}: cannot be started: ${reason}` };
  }
  if (stage === "STREAMS") {
    throw new GloveboxError("CAPACITY", "Too many programs, connections and file operations are open in the sandbox.", {
      suggestion: "End some of them, or wait until they have ended; then retry.",
    });
  }
  throw new GloveboxError("SANDBOX_LOST", "A program could not be started in the sandbox as it must be.", {
    context: { reason: end.reason, stage, errno },
  });
}
