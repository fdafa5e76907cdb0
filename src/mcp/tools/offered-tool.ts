import type { OperationContract, ToolForm } from "../../operations/contract/operation-contract.ts";
import { defaultProfiles, isInProfile, type ToolProfile } from "./tool-profiles.ts";

/** An operation that is offered to agents. */
export type OfferedTool = OperationContract & { readonly tool: ToolForm };

/** The operations that are open to every principal, have a tool form, and are in one of the profiles. */
export function offeredTools(
  contracts: readonly OperationContract[],
  profiles: readonly ToolProfile[] = defaultProfiles,
): readonly OfferedTool[] {
  return contracts
    .filter((contract): contract is OfferedTool => contract.audience === "everyone" && contract.tool !== undefined)
    .filter(({ name }) => isInProfile(name, profiles))
    .map((contract) => ({ ...contract, request: withoutLabels(contract.request) }));
}

/** Labels are for programs that look for their own things: an agent has the ids. */
function withoutLabels(request: OfferedTool["request"]): OfferedTool["request"] {
  const names = ["labels", "label"].filter((name) => Object.hasOwn(request.shape, name));
  return names.length === 0
    ? request
    : request.omit(Object.fromEntries(names.map((name) => [name, true] as const)) as never);
}
