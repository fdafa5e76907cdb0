import { posix } from "node:path";
import type { MountSpec } from "../../../engines/container-spec.ts";
import { toGloveboxError } from "../../../errors/glovebox-error.ts";
import type { OpenRun } from "../../../sandbox/run-record.ts";
import type { Sandbox } from "../../../sandbox/sandbox.ts";
import type { SandboxPlan } from "../../../sandbox/sandbox-plan.ts";
import { Redaction } from "../../../policy/redaction/redaction.ts";
import { concludeRun, judgeRun, type ConcludedRun } from "../../run/conclude-run.ts";
import type { BoundedOutput } from "../../../base/streams/bounded-output.ts";
import { describeWork } from "../../run/describe-work.ts";
import { WatchedScratch } from "../../run/disk/watched-scratch.ts";
import { explainEnding, type RunWords } from "../../run/explain-ending.ts";
import { networkWarnings } from "../../run/explain-network.ts";
import { secretWarnings } from "../../run/explain-secrets.ts";
import { toolingWarnings } from "../../run/explain-tooling.ts";
import { agentPaths } from "../agent-container.ts";
import { secretAgentVariables } from "../../../policy/agents/agent-variables.ts";
import { shellAssignments } from "../../../policy/agents/shell-assignments.ts";
import { makeEnvironmentFolder } from "../environment/environment-folder.ts";
import { CopiedFolders } from "../folders/copied-folders.ts";
import { mountSpecs, setuidWarnings, type FolderWords } from "../../run/folders/host-mount.ts";
import { agentPlan } from "./agent-plan.ts";
import { readAnswer, type AgentResult } from "./agent-result.ts";
import { FolderGuard } from "../../run/folders/guard-folders.ts";
import type { AgentRun, ReadyAgent } from "./agent-run.ts";
import { OwnerTooling } from "../../run/folders/owner-tooling.ts";
import type { AgentSpec } from "./agent-spec.ts";
import { pruneLogs } from "./prune-logs.ts";
import { RunLog } from "./run-log.ts";
import { workInSandbox, type WorkedAgent } from "./work-in-sandbox.ts";

const words: RunWords = {
  subject: "agent",
  sandbox: "The agent's container",
  suggestions: {
    lost: "Run the agent again; what it wrote to its group's folders is there.",
  },
  outOfMemory: (limit) => `The agent ran out of its ${limit} of memory.`,
};

/** Where it works on copies. */
const wordsOfCopies: RunWords = {
  ...words,
  suggestions: { lost: "Run the agent again; nothing that it changed has come back to the group's folders." },
};

/** Only the agent reads what it and its engine keep there. */
const agentsOwn: ReadonlySet<string> = new Set([agentPaths.state, agentPaths.ipc]);

const folderWords: FolderWords = { subject: "agent", folders: "the group's folders" };

/**
 * Opens a container, runs the agent in it, reads its answer and removes the container. @throws as `runContainerAgent`
 */
export async function runInContainer(run: AgentRun, ready: ReadyAgent): Promise<AgentResult> {
  const { spec, dependencies } = run;
  const { folders } = ready;
  const user = folders.workspace.owner;
  await using environment = ready.capabilities.hostPaths
    ? await makeEnvironmentFolder({ ...dependencies, variables: spec.variables, user })
    : null;
  await using log = await RunLog.open({
    folder: folders.logs,
    uid: dependencies.uid,
    group: spec.group.name,
    startedAtMs: dependencies.now(),
    maxBytes: dependencies.maxOutputBytes,
    logger: dependencies.logger,
  });
  await pruneLogs({
    folder: folders.logs,
    platform: dependencies.platform,
    maxLogs: spec.maxLogs,
    current: posix.basename(log.name),
  });
  await log.facts("started", {
    group: spec.group.name,
    isMain: spec.group.isMain,
    agent: spec.agent.name,
    image: spec.image,
    engine: dependencies.engine.name,
    promptCharacters: spec.prompt.length,
    session: spec.sessionId ?? null,
    timeoutMs: spec.limits.timeoutMs,
  });
  const at = { log, environmentMounts: environment === null ? [] : [environment.mount] };
  const { result, warnings } = await openAndWork(run, ready, at).catch(async (error: unknown) => {
    await log.facts("failed", { error: error instanceof Error ? error.message : "unknown" });
    throw error;
  });
  await log.facts("ended", {
    outcome: result.outcome,
    exitCode: result.exitCode,
    durationMs: result.durationMs,
    status: result.status,
    error: result.error?.message ?? result.agentError,
  });
  const isLogThere = await folders.logs.isStillThere();
  const gone = "the group's folder was moved or removed while the agent worked; its log went with it.";
  return { ...result, warnings: [...ready.warnings, ...warnings, ...(isLogThere ? [] : [gone])] };
}

interface RunPlace {
  readonly log: RunLog;
  /** Empty where the agent works on copies. */
  readonly environmentMounts: readonly MountSpec[];
}

async function openAndWork(
  run: AgentRun,
  ready: ReadyAgent,
  { log, environmentMounts }: RunPlace,
): Promise<{ readonly result: AgentResult; readonly warnings: readonly string[] }> {
  const { spec, dependencies, caller, listener, ids } = run;
  const { engine, sandboxes, diskScratch } = dependencies;
  const { capabilities, folders, grant } = ready;
  const { diskBytes, timeoutMs } = spec.limits;
  const mounts = capabilities.hostPaths ? ready.mounts : [];
  const redaction = new Redaction(secretAgentVariables(spec.variables));
  const specs = await mountSpecs(mounts);
  const setuid = setuidWarnings(mounts, { capabilities, engine: engine.name, words: folderWords });
  await using scratch = diskScratch.serves(capabilities)
    ? await WatchedScratch.open({ ...dependencies, diskBytes })
    : null;
  await using tooling = await OwnerTooling.open({
    ...{ ...dependencies, ...spec, mounts: ready.mounts },
    unread: agentsOwn,
    redact: (text) => redaction.text(text),
  });
  const locks = await tooling.locks();
  const environment = { HOME: agentPaths.home, LANG: "C.UTF-8", ...grant?.environment };
  const { plan, warnings } = agentPlan(spec, {
    capabilities,
    mounts: capabilities.hostPaths ? [...specs, ...environmentMounts, ...locks] : [],
    scratchMounts: scratch?.mounts ?? null,
    user: folders.workspace.owner,
    programEnvironment: environment,
  });
  await using guard = await FolderGuard.open({ ...dependencies, mounts, diskBytes, words: folderWords });
  await using sandbox = await sandboxes.open(engine, plan, caller);
  ids.sandbox = sandbox.id;
  const record = (ids.record = sandbox.beginRun({ ...ids, work: workOf(spec), timeoutMs, network: spec.network }));
  listener.onSandbox(sandbox.id);
  tooling.begin(sandbox, { locks: capabilities.hostPaths ? locks : [], engine: engine.name });
  scratch?.watch(sandbox);
  await guard.begin(sandbox, { engine, sandboxes });
  const copies = capabilities.hostPaths ? null : await sendCopies(run, ready, { sandbox, locks, plan });
  const endedFor = (): AgentResult["error"] => scratch?.error ?? guard.error;
  const worked = await workInSandbox(run, ready, { sandbox, redaction, log, environment }).catch((error: unknown) => {
    throw endedFor() ?? error;
  });
  const back = await bringBack(copies, sandbox);
  const ended = { sandbox, record, worked, copies, endedFor: () => endedFor() ?? back.error };
  const concluded = await conclude(run, ended);
  const changed = await tooling.end();
  return {
    result: resultOf(run, ready, { concluded, worked, log: log.name, toolingFiles: changed.changed }),
    warnings: [
      ...warnings,
      ...back.warnings.map((text) => redaction.text(text)),
      ...setuid,
      ...networkWarnings(worked.networkReport, concluded.outcome),
      ...toolingWarnings(changed),
      ...secretWarnings(redaction),
      ...setuidTaken(guard.setuidCount),
    ],
  };
}

function workOf({ agent, prompt, variables }: AgentSpec): string {
  return describeWork(agent.name, prompt, new Redaction(secretAgentVariables(variables)));
}

/** Gives a sandbox without mounts copies of all that others have mounted. @throws as `CopiedFolders.send` */
async function sendCopies(
  { spec, dependencies, caller: { signal } }: AgentRun,
  { mounts }: ReadyAgent,
  {
    sandbox,
    locks,
    plan,
  }: { readonly sandbox: Sandbox; readonly locks: readonly MountSpec[]; readonly plan: SandboxPlan },
): Promise<CopiedFolders> {
  const { files } = sandbox;
  const variables = Buffer.from(shellAssignments(spec.variables));
  await files.write(agentPaths.environmentFile, variables, { mode: 0o600, signal });
  const maxBytes = plan.scratch.find(({ path }) => path === agentPaths.workspace)?.sizeBytes ?? 0;
  return CopiedFolders.send({ ...dependencies, mounts, files, locks, maxBytes, signal });
}

/** Also after a run that was ended: as where its folders are mounted, what it has done until then is there. */
async function bringBack(
  copies: CopiedFolders | null,
  sandbox: Sandbox,
): Promise<{ readonly warnings: readonly string[]; readonly error: AgentResult["error"] }> {
  if (copies === null || sandbox.state !== "running") return { warnings: [], error: null };
  try {
    return { warnings: await copies.bringBack(), error: null };
  } catch (error) {
    return { warnings: [], error: toGloveboxError(error) };
  }
}

interface EndedWork {
  readonly sandbox: Sandbox;
  readonly copies: CopiedFolders | null;
  readonly record: OpenRun;
  readonly worked: WorkedAgent;
  /** Why the sandbox was ended early, if it was. */
  readonly endedFor: () => AgentResult["error"];
}

/** Judges the run, and removes its sandbox. */
async function conclude(
  { spec, dependencies: { logger }, ids }: AgentRun,
  { sandbox, record, worked, endedFor, copies }: EndedWork,
): Promise<ConcludedRun<BoundedOutput>> {
  const judged = await judgeRun({
    sandbox,
    record,
    end: worked.end,
    isLost: () => sandbox.state !== "running",
    networkReport: () => Promise.resolve(worked.networkReport),
  });
  await sandbox.remove();
  return concludeRun(judged, {
    ids,
    logger,
    explain: (each) =>
      endedFor() ?? explainEnding({ ...each, words: copies === null ? words : wordsOfCopies, ...spec.limits }),
  });
}

interface Facts {
  readonly concluded: ConcludedRun<BoundedOutput>;
  readonly worked: WorkedAgent;
  readonly log: string;
  readonly toolingFiles: AgentResult["toolingFiles"];
}

function resultOf(
  { spec, dependencies, ids }: AgentRun,
  { capabilities }: ReadyAgent,
  { concluded, worked, log, toolingFiles }: Facts,
): AgentResult {
  const { end, outcome, memoryPeakBytes, policyDigest } = concluded;
  const endedByItself = end.interruption === null && end.exitCode !== null;
  const answer = readAnswer(worked.marked, log);
  const error = concluded.error ?? (endedByItself ? answer.error : null);
  const isGood = outcome === "completed" && error === null && answer.output?.status === "success";
  return {
    status: isGood ? "success" : "error",
    result: answer.output?.result ?? null,
    newSessionId: answer.output?.newSessionId ?? null,
    agentError: answer.output?.error ?? null,
    outcome: outcome === "completed" && !isGood ? "failed" : outcome,
    exitCode: end.exitCode,
    output: worked.output.text(),
    stderr: end.stderr.text(),
    truncated: worked.output.truncated || end.stderr.truncated,
    durationMs: end.durationMs,
    memoryPeakBytes,
    log,
    image: spec.image,
    sandboxId: ids.sandbox ?? "",
    engine: dependencies.engine.name,
    isolation: capabilities.isolation,
    ociRuntime: spec.ociRuntime ?? null,
    policyDigest,
    toolingFiles,
    warnings: [],
    error,
  };
}

function setuidTaken(count: number): readonly string[] {
  return count === 0 ? [] : [`${count} files of the group's folders lost a setuid bit that the agent had set.`];
}
