import { pathOfTooling, shortenTooling } from "../policy/tooling-changes.ts";
import type { AgentResult } from "../workloads/agent/agent-result.ts";
import { runContainerAgent } from "../workloads/agent/run-agent.ts";
import type { OperationCall, RequestOf } from "./contract/operation-contract.ts";
import { maxToolingFiles } from "./contract/program-schema.ts";
import { settle, type RunLimits, type MountNeeds, type RunNeeds, type StartNeeds } from "./settle.ts";
import { runToWire, callListener, imageProvider, resultAlertsSince } from "./to-wire.ts";
import { handle } from "./handler.ts";
import { openMounts, type WantedMount } from "./mounts-handler.ts";
import { runAgentContract, type RunAgentResponse } from "./agent-contract.ts";
import { utf8Length } from "../base/streams/utf8.ts";
import { expandHome } from "../config/host/host-paths.ts";
import type { AgentGroupConfig } from "../config/config.ts";
import { GloveboxError, invalidField } from "../errors/glovebox-error.ts";
import { agentEnvironment, hostsOfVariables, isDryRun, agentNames } from "../policy/known-agents.ts";
import { checkGroupName } from "../policy/chosen-names.ts";
import { namedDomains, parseNetwork, withDomains, type NetworkPolicy } from "../policy/network/network.ts";
import { agentImageFor } from "../workloads/agent/agent-image.ts";
import { isAgentName } from "../workloads/agent/commands/agent-table.ts";
import type { OpenPlace } from "../sandbox/mounts/open-place.ts";
import { nameOfFolder, type AgentFolderPaths } from "../workloads/agent/agent-folders.ts";
import type { AgentSpec, AgentDependencies } from "../workloads/agent/agent-run.ts";
import { mkdir, realpath } from "node:fs/promises";
import path from "node:path";
import type { Host } from "../config/host/host.ts";
import { openProject } from "./project-handler.ts";
import type { AgentTurns } from "../workloads/agent/agent-turns.ts";

export type AgentNeeds = StartNeeds &
  MountNeeds &
  Omit<RunNeeds<AgentDependencies>, "turns" | "uid"> & {
    /** Runs of agents, group by group. */
    readonly agentTurns: AgentTurns;
    /** Holds the groups' folders if the configuration names no other; null: there is none. */
    readonly agentDirectory: string | null;
  };

type Request = RequestOf<typeof runAgentContract>;

/** `run_agent`: a coding agent of a group, in a container of its own. */
export const runAgentHandler = handle(runAgentContract, run);

const maxPromptBytes = 1_048_576;

/** A run as requested, except for what is on this machine's disk. */
type CheckedAgent = Omit<AgentSpec, "mountPolicy" | "openAdditional"> & {
  readonly additionalMounts: AgentGroupConfig["additionalMounts"];
};

/** Whom an agent is to work for. */
interface AgentTarget {
  /** Of the group, or of what the agent keeps for a folder. */
  readonly name: string;
  /** Settings of the group; null: it has none, or it is a folder. */
  readonly group: AgentGroupConfig | null;
  /** Null: a group. */
  readonly folder: { readonly openFolder: () => Promise<OpenPlace> } | null;
}

/** The folder's path without links, by which it is known whatever it was called; as it was given if nothing is there. */
export async function realFolder(
  { homeDirectory, workingDirectory }: Pick<Host, "homeDirectory" | "workingDirectory">,
  given: string,
): Promise<string> {
  const whole = path.resolve(workingDirectory, expandHome(given, homeDirectory));
  return realpath(whole).catch(() => whole);
}

/**
 * Opens the folder that an agent is to work in, through the mount gate (SPEC MO5), and makes the one for its state.
 * @throws INVALID_REQUEST and POLICY_DENIED naming project_path and the rule
 */
async function openAgentFolder(platform: MountNeeds, given: string): Promise<OpenPlace> {
  const { project, notices } = await openProject(platform, given, { readOnly: false, field: "project_path" });
  if (!project.readOnly) return project.place;
  await project.place[Symbol.asyncDispose]();
  throw new GloveboxError(
    "POLICY_DENIED",
    "project_path: an agent needs a folder that it may change, and this one is read-only.",
    {
      suggestion: notices.find((notice) => notice.startsWith("project_path: ")) ?? "Name another folder.",
      context: { field: "project_path" },
    },
  );
}

/** Makes the folder for the state of agents, as a group's folder is made by its owner. @throws PERMISSION_DENIED */
async function makeAgentStateDirectory(host: Pick<Host, "homeDirectory">): Promise<void> {
  const directory = agentStateDirectory(host);
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new GloveboxError(
      "PERMISSION_DENIED",
      "The folder for what agents keep, ~/.glovebox/agents, cannot be made.",
      {
        suggestion: "Let this user write to its home directory.",
        cause: error,
      },
    );
  }
}

async function run(platform: AgentNeeds, request: Request, call: OperationCall): Promise<RunAgentResponse> {
  const spec = await agentSpecOf(platform, request, call);
  if (spec.group.openFolder !== undefined) await makeAgentStateDirectory(platform.host);
  const { engine, notes } = await platform.chooseEngine(request.engine, {
    minIsolation: spec.minIsolation,
    containers: true,
    signal: call.signal,
  });
  for (const note of notes) await call.onEvent?.({ type: "warning", message: note });
  const told: string[] = [...notes];
  const { policy } = await platform.loadMountPolicy();
  const { config, host } = platform;
  const { mark } = platform.alertBook;
  const result = await runContainerAgent(
    {
      ...spec,
      mountPolicy: policy,
      openAdditional: async () => {
        const { mounts, notices } = await openMounts(platform, additionalOf(spec), spec.group.isMain);
        told.push(...notices);
        return mounts;
      },
    },
    {
      ...platform,
      engine,
      turns: platform.agentTurns,
      maxOutputBytes: config.maxOutputBytes,
      uid: host.uid,
      provideImage: imageProvider(platform, engine, call),
    },
    call,
    callListener(call, request.name),
  );
  return {
    ...toWire(result, told, { kind: "agent", ceilings: config.ceilings }),
    ...resultAlertsSince(platform.alertBook, mark, result.sandboxId),
  };
}

function toWire(result: AgentResult, notes: readonly string[], limits: RunLimits): RunAgentResponse {
  return {
    status: result.status,
    result: result.result,
    ...(result.newSessionId === null ? {} : { new_session_id: result.newSessionId }),
    ...(result.agentError === null ? {} : { agent_error: result.agentError }),
    ...runToWire(result, notes, limits),
    output: result.output,
    stderr: result.stderr,
    log: result.log,
    image: result.image,
    sandbox_id: result.sandboxId,
    tooling_files: shortenTooling(result.toolingFiles, maxToolingFiles).map((file) => ({
      path: pathOfTooling(file),
      change: file.change,
    })),
  };
}

/**
 * The request combined with its group's settings, all of it checked; nothing is opened yet.
 * @throws INVALID_REQUEST naming the field or the key, NOT_FOUND for a group that is not this principal's
 */
async function agentSpecOf(platform: AgentNeeds, request: Request, call: OperationCall): Promise<CheckedAgent> {
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

/** @throws INVALID_REQUEST naming the field, NOT_FOUND, POLICY_DENIED */
async function targetOf(platform: AgentNeeds, request: Request, call: OperationCall): Promise<AgentTarget> {
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
function additionalOf({ group, additionalMounts }: CheckedAgent): readonly WantedMount[] {
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
function foldersOf({ config: { agents }, host, agentDirectory }: AgentNeeds): AgentFolderPaths {
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
function ownFolders({ config: { agents }, host }: AgentNeeds): AgentFolderPaths {
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

/** Where agents keep conversations, settings and logs of folders that they worked in; closed to other users. */
function agentStateDirectory({ homeDirectory }: Pick<Host, "homeDirectory">): string {
  return path.join(homeDirectory, ".glovebox", "agents");
}
