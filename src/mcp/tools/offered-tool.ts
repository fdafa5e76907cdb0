import type { OperationContract, ToolForm } from "../../operations/contract/operation-contract.ts";

/** An operation that agents are offered. */
export type OfferedTool = OperationContract & { readonly tool: ToolForm };

/** Those of the operations that are for everyone and have the form of a tool. */
export function offeredTools(contracts: readonly OperationContract[]): readonly OfferedTool[] {
  return contracts.filter(
    (contract): contract is OfferedTool => contract.audience === "everyone" && contract.tool !== undefined,
  );
}
