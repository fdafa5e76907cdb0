import { utf8Length } from "../../base/streams/utf8.ts";
import { expandHome } from "../../config/mounts/expand-home.ts";
import type { AgentGroupConfig } from "../../config/agents-config.ts";
import { GloveboxError, invalidField } from "../../errors/glovebox-error.ts";
import { agentEnvironment, hostsOfVariables, isDryRun } from "../../policy/agents/agent-variables.ts";
import { checkGroupName } from "../../policy/agents/group-name.ts";
import { checkImageReference } from "../../policy/image-reference.ts";
import { namedDomains, parseNetwork, withDomains, type NetworkPolicy } from "../../policy/network/network.ts";
import { agentNames } from "../../workloads/agent/commands/agent-program.ts";
import { agentImageFor } from "../../workloads/agent/image/agent-image.ts";
import { isAgentName } from "../../workloads/agent/commands/agent-table.ts";
import type { AgentFolderPaths } from "../../workloads/agent/folders/agent-folders.ts";
import type { AgentSpec } from "../../workloads/agent/run/agent-spec.ts";
import type { WantedMount } from "../mounts/open-mounts.ts";
import type { OperationCall } from "../contract/operation-call.ts";
import type { RequestOf } from "../contract/operation-contract.ts";
import { explicitDemands } from "../handling/explicit-demands.ts";
import type { PlatformParts } from "../handling/platform-parts.ts";
import { requestedLimits } from "../handling/requested-limits.ts";
import type { runAgentContract } from "./run-agent-contract.ts";

type Request = RequestOf<typeof runAgentContract>;

const maxPromptBytes = 1_048_576;

/** A run as requested, except for what is on this machine's disk. */
export type CheckedAgent = Omit<AgentSpec, "mountPolicy" | "openAdditional"> & {
  readonly additionalMounts: AgentGroupConfig["additionalMounts"];
};

/**
 * The request combined with its group's settings, all of it checked; nothing is opened yet.
 * @throws INVALID_REQUEST naming the field or the key, NOT_FOUND for a group that is not this principal's
 */
export function agentSpecOf(platform: PlatformParts, request: Request, call: OperationCall): CheckedAgent {
  const { config } = platform;
  const { agents } = config;
  const name = checkGroupName(request.group);
  const group = Object.hasOwn(agents.groups, name) ? (agents.groups[name] ?? null) : null;
  if (group?.principals?.includes(call.principal) === false) throw noGroup(name);
  if (request.main === true && name !== agents.mainGroup) throw notMain(agents.mainGroup);
  const agent = group?.agent ?? { name: agents.agent };
  if (!isAgentName(agent.name)) throw invalidField("agents.agent", `one of ${agentNames.join(", ")}`, agent.name);
  const variables = agentEnvironment(config.agentEnvironment);
  const network = networkOf(request, group?.network ?? agents.network, variables);
  platform.assertNetworkAllowed(network);
  const timeout = request.timeout_seconds ?? request.limits?.timeout_seconds ?? ownTimeout(group);
  return {
    sandboxId: call.sandboxId,
    labels: {},
    group: { name, isMain: request.main ?? false, isConfigured: group !== null },
    prompt: checkPrompt(request.prompt),
    sessionId: checkSession(request.agent_session_id),
    agent,
    image:
      request.image === undefined
        ? (group?.image ?? agentImageFor(agent.name, agents.image))
        : checkImageReference(request.image),
    imageDemanded: request.image !== undefined || (group?.image ?? null) !== null,
    ociRuntime: request.oci_runtime,
    limits: requestedLimits("agent", { ...request, timeout_seconds: timeout }, config),
    network,
    minIsolation: platform.minIsolation("other", request.min_isolation),
    explicitDemands: explicitDemands("agent", request, config.explicitSettings),
    paths: foldersOf(platform),
    variables,
    toolingFiles: config.toolingFiles,
    toolingPaths: config.toolingPaths,
    maxLogs: agents.maxLogs,
    memory: agents.memory,
    additionalMounts: group?.additionalMounts ?? [],
  };
}

/** The `additionalMounts` of its group. */
export function additionalOf({ group, additionalMounts }: CheckedAgent): readonly WantedMount[] {
  return additionalMounts.map((mount, index) => ({
    ...mount,
    shownAs: `agents.groups.${group.name}.containerConfig.additionalMounts.${index}`,
  }));
}

function ownTimeout(group: AgentGroupConfig | null): number | undefined {
  const milliseconds = group?.timeoutMs ?? null;
  return milliseconds === null ? undefined : milliseconds / 1_000;
}

/**
 * What the agent may connect to: its model, at the host named in its variables, and the configured names (SPEC SC3).
 */
function networkOf(
  request: Request,
  configured: string | readonly string[],
  variables: Readonly<Record<string, string>>,
): NetworkPolicy {
  const listed = parseNetwork(
    request.network ?? configured,
    request.network === undefined ? "agents.network" : "network",
  );
  const hosts = isDryRun(variables) ? [] : hostsOfVariables(variables);
  const model = parseNetwork(hosts, "the address among the agent's variables (PI_BASE_URL and the like)");
  return withDomains(listed, namedDomains(model));
}

/** @throws UNSUPPORTED if the deployment has no folder for groups */
function foldersOf({ config: { agents }, host, agentDirectory }: PlatformParts): AgentFolderPaths {
  const given = agents.directory ?? agentDirectory;
  if (given === null) {
    throw new GloveboxError("UNSUPPORTED", "This deployment has no agent groups.", {
      suggestion:
        "Ask the operator to set agents.directory (GLOVEBOX_AGENT_DIRECTORY) to the folder that contains them.",
      context: { setting: "agents.directory" },
    });
  }
  const expand = (path: string): string => expandHome(path, host.homeDirectory);
  return {
    directory: expand(given),
    project: expand(agents.project ?? given),
    mainWorkspace: expand(agents.mainWorkspace),
    farmState: agents.farmState === null ? null : expand(agents.farmState),
    dashboard: agents.dashboard === null ? null : expand(agents.dashboard),
  };
}

function checkPrompt(prompt: string): string {
  const bytes = utf8Length(prompt);
  if (prompt.trim() === "") throw invalidField("prompt", "what the agent is to do", "nothing");
  if (bytes <= maxPromptBytes) return prompt;
  throw invalidField(
    "prompt",
    `at most ${maxPromptBytes} bytes; put what is long into the group's folder`,
    `${bytes} bytes`,
  );
}

function checkSession(id: string | undefined): string | undefined {
  if (id === undefined || /^[A-Za-z0-9][\w.-]{0,199}$/.test(id)) return id;
  throw invalidField("agent_session_id", "the new_session_id of an earlier run", id);
}

function noGroup(name: string): GloveboxError {
  return new GloveboxError("NOT_FOUND", `There is no group ${name}.`, {
    suggestion: "Ask the operator which groups are yours.",
    context: { field: "group" },
  });
}

function notMain(mainGroup: string): GloveboxError {
  return new GloveboxError("POLICY_DENIED", `main: only the group ${mainGroup} runs as the main one.`, {
    suggestion: `Leave main out, or name the group ${mainGroup}; the operator chooses it with agents.main_group.`,
    context: { field: "main" },
  });
}
