import type { OperationContract, ToolForm } from "../../operations/contract/operation-contract.ts";

/** An operation that agents are offered. */
export type OfferedTool = OperationContract & { readonly tool: ToolForm };

/** Those of the operations that are for everyone and have the form of a tool. */
export function offeredTools(contracts: readonly OperationContract[]): readonly OfferedTool[] {
  return contracts
    .filter((contract): contract is OfferedTool => contract.audience === "everyone" && contract.tool !== undefined)
    .map((contract) => ({ ...contract, request: withoutLabels(contract.request) }));
}

/** Labels are for programs that look for their own: an agent has the ids. */
function withoutLabels(request: OfferedTool["request"]): OfferedTool["request"] {
  const names = ["labels", "label"].filter((name) => Object.hasOwn(request.shape, name));
  return names.length === 0
    ? request
    : request.omit(Object.fromEntries(names.map((name) => [name, true] as const)) as never);
}
