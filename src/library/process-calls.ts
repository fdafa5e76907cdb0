import type { OperationCall } from "../operations/contract/operation-call.ts";
import {
  listProcessesContract,
  writeStdinContract,
  stopProcessContract,
  type ListProcessesRequest,
  type ListProcessesResponse,
  type WriteStdinRequest,
  type WriteStdinResponse,
  type StopProcessRequest,
  type StopProcessResponse,
} from "../operations/processes/processes-contract.ts";
import {
  startProcessContract,
  type StartProcessRequest,
  type StartProcessResponse,
} from "../operations/processes/start-process-contract.ts";
import type { RunOperation } from "./environment-calls.ts";

type Call = Omit<OperationCall, "principal">;

/**
 * Background processes of environments (`env_id`) and sessions (`session_id`, by default the one that `runCode` uses). All
 * throw NOT_FOUND for an environment, a session or a process that does not exist.
 */
export class ProcessCalls {
  readonly #run: RunOperation;

  constructor(run: RunOperation) {
    this.#run = run;
  }

  /** Its ports are reached at the URLs of the answer, on this machine only. @throws also what starting a sandbox throws */
  start(request: StartProcessRequest, call?: Call): Promise<StartProcessResponse> {
    return this.#run(startProcessContract, request, call);
  }

  /** Those of one place; of one of them the output, too. */
  list(request: ListProcessesRequest = {}, call?: Call): Promise<ListProcessesResponse> {
    return this.#run(listProcessesContract, request, call);
  }

  writeStdin(request: WriteStdinRequest, call?: Call): Promise<WriteStdinResponse> {
    return this.#run(writeStdinContract, request, call);
  }

  /** Ends it with all that it started, or sends it a signal. */
  stop(request: StopProcessRequest, call?: Call): Promise<StopProcessResponse> {
    return this.#run(stopProcessContract, request, call);
  }
}
