import { createEnvironmentOperation } from "../operations/environments/create-environment.ts";
import { destroyEnvironmentOperation } from "../operations/environments/destroy-environment.ts";
import { listEnvironmentsOperation } from "../operations/environments/list-environments.ts";
import { runCommandOperation } from "../operations/environments/run-command.ts";
import type {
  CreateEnvironmentRequest,
  CreateEnvironmentResponse,
  DestroyEnvironmentRequest,
  DestroyEnvironmentResponse,
  ListEnvironmentsResponse,
  RunCommandRequest,
  RunCommandResponse,
} from "../operations/environments/schema.ts";
import type { Operation, OperationCall } from "../operations/operation.ts";
import type { Platform } from "../platform/platform.ts";
import type { z } from "zod";

type Call = Omit<OperationCall, "principal">;

/** Checks a request and does what it asks for. */
export type RunOperation = <Request extends z.ZodType, Response extends z.ZodType>(
  operation: Operation<Request, Response, Platform>,
  request: unknown,
  call: Call | undefined,
) => Promise<z.output<Response>>;

/** Environments of this process, each under its `env_id`. All throw NOT_FOUND for one that does not exist. */
export class EnvironmentCalls {
  readonly #run: RunOperation;

  constructor(run: RunOperation) {
    this.#run = run;
  }

  /** @throws ALREADY_EXISTS, and what starting a sandbox throws */
  create(request: CreateEnvironmentRequest, call?: Call): Promise<CreateEnvironmentResponse> {
    return this.#run(createEnvironmentOperation, request, call);
  }

  /** Runs a command to its end; one that fails is a result. */
  runCommand(request: RunCommandRequest, call?: Call): Promise<RunCommandResponse> {
    return this.#run(runCommandOperation, request, call);
  }

  list(call?: Call): Promise<ListEnvironmentsResponse> {
    return this.#run(listEnvironmentsOperation, {}, call);
  }

  destroy(request: DestroyEnvironmentRequest, call?: Call): Promise<DestroyEnvironmentResponse> {
    return this.#run(destroyEnvironmentOperation, request, call);
  }
}
