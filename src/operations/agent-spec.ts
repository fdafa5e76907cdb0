import { utf8Length } from "../base/streams/utf8.ts";
import { expandHome } from "../config/expand-home.ts";
import type { AgentGroupConfig } from "../config/agents-config.ts";
import { GloveboxError, invalidField } from "../errors/glovebox-error.ts";
import { agentEnvironment, hostsOfVariables, isDryRun } from "../policy/agent-variables.ts";
import { checkGroupName } from "../policy/group-name.ts";
import { namedDomains, parseNetwork, withDomains, type NetworkPolicy } from "../policy/network/network.ts";
import { agentNames } from "../policy/agent-names.ts";
import { agentImageFor } from "../workloads/agent/agent-image.ts";
import { isAgentName } from "../workloads/agent/commands/agent-table.ts";
import type { OpenPlace } from "../sandbox/mounts/open-place.ts";
import { nameOfFolder } from "../workloads/agent/name-of-folder.ts";
import type { AgentFolderPaths } from "../workloads/agent/agent-folders.ts";
import type { AgentSpec } from "../workloads/agent/agent-spec.ts";
import type { WantedMount } from "./open-mounts.ts";
import type { OperationCall } from "./contract/operation-call.ts";
import type { RequestOf } from "./contract/operation-contract.ts";
import { settle } from "./handling/settle.ts";
import type { PlatformParts } from "./handling/platform-parts.ts";
import { agentStateDirectory, openAgentFolder, realFolder } from "./agent-folder.ts";
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
export async function agentSpecOf(
  platform: PlatformParts,
  request: Request,
  call: OperationCall,
): Promise<CheckedAgent> {
  const { config } = platform;
  const { agents } = config;
  const { name, group, folder } = await targetOf(platform, request, call);
  const agent = request.agent === undefined ? (group?.agent ?? { name: agents.agent }) : { name: request.agent };
  if (!isAgentName(agent.name))
    throw invalidField(
      request.agent === undefined ? "agents.agent" : "agent",
      `one of ${agentNames.join(", ")}`,
      agent.name,
    );
  const variables = agentEnvironment(config.agentEnvironment);
  const network = networkOf(request, group?.network ?? agents.network, variables);
  platform.assertNetworkAllowed(network);
  const timeout = request.timeout_seconds ?? request.limits?.timeout_seconds ?? ownTimeout(group);
  const settings = settle("agent", { ...request, timeout_seconds: timeout }, platform, call);
  return {
    ...settings,
    network,
    group: { name, isMain: request.main ?? false, isConfigured: group !== null || folder !== null, ...folder },
    prompt: checkPrompt(request.prompt),
    sessionId: checkSession(request.agent_session_id),
    agent,
    image:
      request.image === undefined
        ? (group?.image ?? agentImageFor(agent.name, agents.image))
        : platform.checkImage(request.image),
    imageOrigin: request.image === undefined ? "configured" : "request",
    paths: folder === null ? foldersOf(platform) : ownFolders(platform),
    variables,
    // Whoever owns the folder works in it with tools that run such files.
    toolingFiles: folder === null ? config.toolingFiles : "locked",
    toolingPaths: config.toolingPaths,
    maxLogs: agents.maxLogs,
    // A project's texts are no group's memory.
    memory: folder === null ? agents.memory : { ...agents.memory, maxCharacters: 0 },
    additionalMounts: group?.additionalMounts ?? [],
  };
}

/** Whom an agent is to work for. */
interface AgentTarget {
  /** Of the group, or of what the agent keeps for a folder. */
  readonly name: string;
  /** Settings of the group; null: it has none, or it is a folder. */
  readonly group: AgentGroupConfig | null;
  /** Null: a group. */
  readonly folder: { readonly openFolder: () => Promise<OpenPlace> } | null;
}

/** @throws INVALID_REQUEST naming the field, NOT_FOUND, POLICY_DENIED */
async function targetOf(platform: PlatformParts, request: Request, call: OperationCall): Promise<AgentTarget> {
  const { project_path: projectPath, main } = request;
  const { agents } = platform.config;
  if (projectPath !== undefined) {
    const extra = (["group", "main"] as const).find((field) => request[field] !== undefined);
    if (extra !== undefined) throw invalidField(extra, "nothing beside project_path", request[extra]);
    const folder = { openFolder: () => openAgentFolder(platform, projectPath) };
    const name = nameOfFolder(await realFolder(platform.host, projectPath), call.principal);
    return { name, group: null, folder };
  }
  if (request.group === undefined)
    throw invalidField("group", "the name of a group, or project_path instead", undefined);
  if (request.agent !== undefined)
    throw invalidField("agent", "nothing beside group, whose settings say it", request.agent);
  const name = checkGroupName(request.group);
  const group = Object.hasOwn(agents.groups, name) ? (agents.groups[name] ?? null) : null;
  if (group?.principals?.includes(call.principal) === false) throw noGroup(name);
  if (main === true && name !== agents.mainGroup) throw notMain(agents.mainGroup);
  return { name, group, folder: null };
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

/** Where agents keep what they need between runs in a folder: in the user's home, and not in the folder itself. */
function ownFolders({ config: { agents }, host }: PlatformParts): AgentFolderPaths {
  const directory = agentStateDirectory(host);
  const unused = { farmState: null, dashboard: null };
  return {
    directory,
    project: directory,
    mainWorkspace: expandHome(agents.mainWorkspace, host.homeDirectory),
    ...unused,
  };
}

function checkPrompt(prompt: string): string {
  const bytes = utf8Length(prompt);
  if (prompt.trim() === "") throw invalidField("prompt", "what the agent is to do", undefined);
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
