import type { OperationCall } from "../operations/operation.ts";
import { listProcessesOperation, stopProcessOperation, writeStdinOperation } from "../operations/processes/run.ts";
import { startProcessOperation } from "../operations/processes/start-process.ts";
import type {
  ListProcessesRequest,
  ListProcessesResponse,
  StartProcessRequest,
  StartProcessResponse,
  StopProcessRequest,
  StopProcessResponse,
  WriteStdinRequest,
  WriteStdinResponse,
} from "../operations/processes/schema.ts";
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
    return this.#run(startProcessOperation, request, call);
  }

  /** Those of one place; of one of them the output, too. */
  list(request: ListProcessesRequest = {}, call?: Call): Promise<ListProcessesResponse> {
    return this.#run(listProcessesOperation, request, call);
  }

  writeStdin(request: WriteStdinRequest, call?: Call): Promise<WriteStdinResponse> {
    return this.#run(writeStdinOperation, request, call);
  }

  /** Ends it with all that it started, or sends it a signal. */
  stop(request: StopProcessRequest, call?: Call): Promise<StopProcessResponse> {
    return this.#run(stopProcessOperation, request, call);
  }
}
