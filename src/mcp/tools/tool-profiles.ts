import { invalidField } from "../../errors/glovebox-error.ts";
import type { OperationContract, ToolForm } from "../../operations/contract/operation-contract.ts";

const files = ["list_files", "read_file", "write_file", "edit_file"] as const;

/** Tools by what an agent uses them for; a tool in none of them is only in `all`. */
const toolsOf = {
  run: ["execute_code", "view_artifact", "read_logs"],
  session: ["run_code", "end_session", ...files, "view_artifact", "read_logs"],
  project: ["create_environment", "run_command", "list_environments", "destroy_environment", ...files, "read_logs"],
  process: ["start_process", "list_processes", "write_stdin", "stop_process"],
  test: ["run_tests", "read_logs"],
  preview: ["start_preview", "preview_status", "stop_preview", "read_logs"],
  agent: ["run_agent", "read_logs"],
} as const satisfies Readonly<Record<string, readonly string[]>>;

export type ToolProfile = keyof typeof toolsOf | "all";

const profileNames: readonly ToolProfile[] = [...(Object.keys(toolsOf) as (keyof typeof toolsOf)[]), "all"];

/** The default profiles, kept few because each tool's description costs tokens in every conversation. */
export const defaultProfiles: readonly ToolProfile[] = ["run", "session", "project"];

/** Whether a tool is in one of the profiles. */
export function isInProfile(tool: string, profiles: readonly ToolProfile[]): boolean {
  return profiles.some((profile) => profile === "all" || toolsOf[profile].some((name) => name === tool));
}

/** The profiles that have a tool, for those who look for it. */
export function profilesWith(tool: string): readonly ToolProfile[] {
  return profileNames.filter((profile) => isInProfile(tool, [profile]));
}

/** Parses profiles such as `run,test`. @throws INVALID_REQUEST listing the valid names */
export function parseProfiles(text: string): readonly ToolProfile[] {
  const words = text
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "");
  const known = words.filter((word): word is ToolProfile => profileNames.some((name) => name === word));
  if (words.length === 0 || known.length < words.length) {
    throw invalidField("--tools", `one or more of ${profileNames.join(", ")}, with commas between`, text);
  }
  return [...new Set(known)];
}

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
