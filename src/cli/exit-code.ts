import type { GloveboxError } from "../errors/glovebox-error.ts";
import type { ExecuteResponse } from "../operations/execute-contract.ts";

/**
 * Exit codes of the command itself; `refused`: the answer to a question is no, `leftBehind`: a server could not remove
 * everything; the first three are as in timeout(1) and docker-run(1).
 */
export const exitCodes: Readonly<
  Record<"timedOut" | "platformFailed" | "outOfMemory" | "usage" | "refused" | "leftBehind", number>
> = {
  timedOut: 124,
  platformFailed: 125,
  outOfMemory: 137,
  usage: 2,
  refused: 1,
  leftBehind: 1,
};

/** Exit code for a run that ended: the program's own, unless the platform ended it. */
export function exitCodeOf(response: Pick<ExecuteResponse, "outcome" | "exit_code">): number {
  switch (response.outcome) {
    case "completed":
    case "failed":
    case "policy_denied":
      return response.exit_code ?? exitCodes.platformFailed;
    case "timed_out":
      return exitCodes.timedOut;
    case "oom_killed":
      return exitCodes.outOfMemory;
    case "cancelled":
    case "sandbox_lost":
      return exitCodes.platformFailed;
  }
}

/** Exit code for a request that never became a run. */
export function exitCodeOfError(error: GloveboxError): number {
  return error.errorType === "INVALID_REQUEST" ? exitCodes.usage : exitCodes.platformFailed;
}
