import type { OperationCall } from "../operations/contract/operation-call.ts";
import {
  copyIntoSandboxContract,
  copyOutOfSandboxContract,
  type CopyInRequest,
  type CopyOutRequest,
  type CopyResponse,
} from "../operations/sandboxes/copy-contract.ts";
import {
  execInSandboxContract,
  openTerminalContract,
  type ExecRequest,
  type ExecResponse,
  type TerminalRequest,
  type TerminalResponse,
} from "../operations/sandboxes/exec-contract.ts";
import type { RunOperation } from "./environment-calls.ts";

type Call = Omit<OperationCall, "principal">;

/**
 * Live sandboxes of this user on this machine, each under its `sandbox_id`, whichever process has them. What runs there
 * goes on beside it. All throw NOT_FOUND naming the sandboxes there are, SANDBOX_LOST when the owner is gone, and
 * UNSUPPORTED for one that is out of reach or at isolation `preload`.
 */
export class SandboxCalls {
  readonly #run: RunOperation;

  constructor(run: RunOperation) {
    this.#run = run;
  }

  /** Runs a program to its end; one that fails is a result. `call.stdin` is its input. An abort ends all of it. */
  exec(request: ExecRequest, call?: Call): Promise<ExecResponse> {
    return this.#run(execInSandboxContract, request, call);
  }

  /**
   * Runs a shell or a program in a terminal: `call.stdin` is what is typed, output events are what to draw, unfiltered,
   * `call.sizes` tells of other sizes. The end of what is typed hangs up.
   */
  terminal(request: TerminalRequest, call?: Call): Promise<TerminalResponse> {
    return this.#run(openTerminalContract, request, call);
  }

  /** Copies a file or folder of this machine into a sandbox, as `docker cp` does. @throws POLICY_DENIED beyond the limits */
  copyIn(request: CopyInRequest, call?: Call): Promise<CopyResponse> {
    return this.#run(copyIntoSandboxContract, request, call);
  }

  /**
   * Copies a file or folder out of a sandbox, whose names are its programs': nothing is written outside of the target,
   * no link is followed or made that leads out. @throws POLICY_DENIED beyond the limits and for names that lead out
   */
  copyOut(request: CopyOutRequest, call?: Call): Promise<CopyResponse> {
    return this.#run(copyOutOfSandboxContract, request, call);
  }
}
