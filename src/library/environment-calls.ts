import type { OperationCall } from "../operations/contract/operation-call.ts";
import type { OperationContract, ResponseOf } from "../operations/contract/operation-contract.ts";
import {
  createEnvironmentContract,
  type CreateEnvironmentRequest,
  type CreateEnvironmentResponse,
} from "../operations/environments/create-environment-contract.ts";
import {
  listEnvironmentsContract,
  destroyEnvironmentContract,
  type ListEnvironmentsResponse,
  type DestroyEnvironmentRequest,
  type DestroyEnvironmentResponse,
} from "../operations/environments/environments-contract.ts";
import {
  runCommandContract,
  type RunCommandRequest,
  type RunCommandResponse,
} from "../operations/environments/run-command-contract.ts";

type Call = Omit<OperationCall, "principal">;

/** Checks a request and does what it asks for. */
export type RunOperation = <Contract extends OperationContract>(
  contract: Contract,
  request: unknown,
  call: Call | undefined,
) => Promise<ResponseOf<Contract>>;

/** Environments of this process, each under its `env_id`. All throw NOT_FOUND for one that does not exist. */
export class EnvironmentCalls {
  readonly #run: RunOperation;

  constructor(run: RunOperation) {
    this.#run = run;
  }

  /** @throws ALREADY_EXISTS, and what starting a sandbox throws */
  create(request: CreateEnvironmentRequest, call?: Call): Promise<CreateEnvironmentResponse> {
    return this.#run(createEnvironmentContract, request, call);
  }

  /** Runs a command to its end; one that fails is a result. */
  runCommand(request: RunCommandRequest, call?: Call): Promise<RunCommandResponse> {
    return this.#run(runCommandContract, request, call);
  }

  list(call?: Call): Promise<ListEnvironmentsResponse> {
    return this.#run(listEnvironmentsContract, {}, call);
  }

  destroy(request: DestroyEnvironmentRequest, call?: Call): Promise<DestroyEnvironmentResponse> {
    return this.#run(destroyEnvironmentContract, request, call);
  }
}
