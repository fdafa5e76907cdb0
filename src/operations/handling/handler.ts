import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { CallOperation, OperationCall } from "../contract/operation-call.ts";
import type { GrantOf } from "../contract/grant.ts";
import type { OperationContract, RequestOf, ResponseOf } from "../contract/operation-contract.ts";
import { grantedParts } from "./granted-parts.ts";
import type { PlatformParts } from "./platform-parts.ts";

/** What an operation does. */
export interface Handler<Contract extends OperationContract = OperationContract> {
  readonly contract: Contract;
  run(parts: PlatformParts, request: RequestOf<Contract>, call: OperationCall): Promise<ResponseOf<Contract>>;
}

/** The handler of a contract, whose schemas define its input and its answer. */
export function handle<Contract extends OperationContract>(
  contract: Contract,
  run: Handler<Contract>["run"],
): Handler<Contract> {
  return { contract, run };
}

/** What loads each handler when its operation is first asked for, by the operation's name. */
export type HandlerTable = ReadonlyMap<string, () => Promise<Handler>>;

/**
 * The front ends' way to the handlers. A caller's grant is applied only here, so that no front end can forget it:
 * handlers get the platform as the grant allows, and operations reserved for the operator are refused.
 */
export function operationCaller(handlers: HandlerTable, parts: PlatformParts, grantOf: GrantOf): CallOperation {
  return async (contract, request, call) => {
    const load = handlers.get(contract.name);
    if (load === undefined) throw new TypeError(`${contract.name} has no handler.`);
    const grant = grantOf(call.principal);
    if (grant !== null) {
      if (contract.audience !== "everyone") throw operatorsOnly(contract.name);
      parts.sandboxes.setMaximum(call.principal, grant.maxSandboxes);
    }
    const granted = grant === null ? parts : grantedParts(parts, grant);
    const handler = await load();
    return handler.run(granted, request, call) as Promise<ResponseOf<typeof contract>>;
  };
}

function operatorsOnly(name: string): GloveboxError {
  return new GloveboxError("PERMISSION_DENIED", `${name} is for the operator of this server, not for API keys.`);
}
