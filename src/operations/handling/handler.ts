import type { CallOperation, OperationCall } from "../contract/operation-call.ts";
import type { OperationContract, RequestOf, ResponseOf } from "../contract/operation-contract.ts";
import type { PlatformParts } from "./platform-parts.ts";

/** What an operation does. */
export interface Handler<Contract extends OperationContract = OperationContract> {
  readonly contract: Contract;
  run(parts: PlatformParts, request: RequestOf<Contract>, call: OperationCall): Promise<ResponseOf<Contract>>;
}

/** The handler of a contract, whose schemas say what it is given and what it must answer. */
export function handle<Contract extends OperationContract>(
  contract: Contract,
  run: Handler<Contract>["run"],
): Handler<Contract> {
  return { contract, run };
}

/** The way to the handlers for doors. */
export function operationCaller(handlers: readonly Handler[], parts: PlatformParts): CallOperation {
  const byName = new Map(handlers.map((handler) => [handler.contract.name, handler]));
  return (contract, request, call) => {
    const handler = byName.get(contract.name);
    if (handler === undefined) throw new TypeError(`${contract.name} has no handler.`);
    return handler.run(parts, request, call) as Promise<ResponseOf<typeof contract>>;
  };
}
