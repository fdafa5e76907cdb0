import type { OperationCall } from "../operations/contract/operation-call.ts";
import type { OperationContract, ResponseOf } from "../operations/contract/operation-contract.ts";
import { parseRequest } from "../operations/contract/parse-request.ts";
import { openEmbeddedCaller } from "../library/embedded-caller.ts";

/** What a command asks for, in the wire's names, which are also those of `--json`. */
export interface CommandCalls extends AsyncDisposable {
  /** @throws GloveboxError */
  readonly send: <Contract extends OperationContract>(
    contract: Contract,
    request: unknown,
    call: Omit<OperationCall, "principal" | "connection">,
  ) => Promise<ResponseOf<Contract>>;
}

/** Opens this process's own Glovebox. @throws INVALID_REQUEST when the configuration is not valid */
export async function openCalls(): Promise<CommandCalls> {
  const { call, principal, close } = await openEmbeddedCaller();
  return {
    send: (contract, request, how) => call(contract, parseRequest(contract, request), { ...how, principal }),
    [Symbol.asyncDispose]: close,
  };
}
