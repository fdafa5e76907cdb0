import { untilCancelled } from "../../base/abort.ts";
import { runMended } from "../../engines/run-mended.ts";
import type { Caller } from "../../sandbox/sandboxes.ts";
import { checkEngine } from "../program/check-engine.ts";
import { loggingFailure, concludeRun, judgeRun, type RunIds, type JudgedRun } from "../run/conclude-run.ts";
import {
  openAgentFolders,
  agentMounts,
  assertMayBeMounted,
  makeEnvironmentFolder,
  type AgentFolders,
} from "./agent-folders.ts";
import { readAnswer, type AgentResult } from "./agent-result.ts";
import type { AgentDependencies, AgentListener, AgentRun, ReadyAgent, AgentSpec } from "./agent-run.ts";
import { posix } from "node:path";
import type { MountSpec } from "../../engines/container-spec.ts";
import { toGloveboxError, GloveboxError } from "../../errors/glovebox-error.ts";
import type { OpenRun } from "../../sandbox/run-record.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { SandboxPlan } from "../../sandbox/sandbox-plan.ts";
import { Redaction } from "../../policy/redaction.ts";
import type { BoundedOutput } from "../../base/streams/collected-bytes.ts";
import { describeWork } from "../run/describe-work.ts";
import { WatchedScratch } from "../run/watched-scratch.ts";
import { explainEnding, secretWarnings, type RunWords } from "../run/explain-ending.ts";
import { networkWarnings } from "../run/network-report.ts";
import { toolingWarnings } from "../run/explain-tooling.ts";
import { agentPaths } from "./agent-container.ts";
import { secretAgentVariables } from "../../policy/known-agents.ts";
import { shellAssignments } from "../../policy/request/environment-variables.ts";
import { CopiedFolders } from "./copied-folders.ts";
import { mountSpecs, setuidWarnings, type FolderWords } from "../run/host-mount.ts";
import { FolderGuard } from "../run/guard-folders.ts";
import { OwnerTooling } from "../run/owner-tooling.ts";
import { RunLog } from "./run-log.ts";
import { workInSandbox, type WorkedAgent } from "./work-in-sandbox.ts";
import { opendir, unlink } from "node:fs/promises";
import { HostFolder } from "../../base/host-folder.ts";
import type { OpenPlace, PlaceOwner } from "../../sandbox/mounts/open-place.ts";
import type { Capabilities } from "../../engines/capabilities.ts";
import type { EngineName } from "../../engines/engine.ts";
import { divideScratch, watchedScratch, workFolder, type ScratchPlace } from "../../policy/scratch.ts";

/**
 * Runs a coding agent for a group in a container of its own, with the group's folders (SPEC AG1); runs of one group
 * come one after another, and waiting does not count against the time. If an agent fails or gives no answer, that is a
 * result.
 * @throws NOT_FOUND, POLICY_DENIED, UNSUPPORTED, IMAGE_UNAVAILABLE, ENGINE_UNAVAILABLE, CAPACITY, PERMISSION_DENIED,
 * and CANCELLED if aborted before it started
 */
export function runContainerAgent(
  spec: AgentSpec,
  dependencies: AgentDependencies,
  caller: Caller,
  listener: AgentListener,
): Promise<AgentResult> {
  const ids: RunIds = { id: caller.runId, principal: caller.principal };
  const { turns, logger } = dependencies;
  const run: AgentRun = { spec, dependencies, caller, listener, ids };
  const onWait = (): void => listener.onProgress("Waiting for another run of the group");
  const key = `${spec.paths.directory}\0${spec.group.name}`;
  return loggingFailure(logger, ids, () =>
    turns.inTurn(key, { signal: caller.signal, onWait }, () => prepareAndRun(run)),
  );
}

async function prepareAndRun(run: AgentRun): Promise<AgentResult> {
  const { spec, dependencies, caller } = run;
  const { engine, platform } = dependencies;
  const { capabilities, warnings } = await checkEngine({ ...spec, engine }, spec, caller);
  assertCanHoldAgents(capabilities, engine.name);
  await using folders = await openAgentFolders(spec.paths, spec.group, platform);
  const own = agentMounts(folders, spec.group.name);
  for (const mount of own) assertMayBeMounted(spec.mountPolicy, mount);
  const additional = await spec.openAdditional();
  try {
    await dependencies.provideImage(spec.image, spec.imageOrigin);
    const grant = await untilCancelled(dependencies.network.grant(spec.network, caller.principal), caller.signal);
    const memory = await dependencies.findMemory({ ...spec.memory, folders, prompt: spec.prompt }, caller.signal);
    const ready: ReadyAgent = {
      capabilities,
      folders,
      mounts: [...own, ...additional],
      grant,
      memoryContext: memory.context,
      warnings: [...warnings, ...(grant?.warnings ?? []), ...memory.warnings, ...foreignFolders(folders)],
    };
    // Retries if the engine's network was down, which made the run fail, and could be restored (SPEC AG4).
    return await runMended({
      ...{ engine, now: dependencies.now, signal: caller.signal },
      run: () => runInContainer(run, ready),
      troubleOf: ({ outcome, stderr, agentError }) =>
        outcome === "failed" ? { text: `${stderr}\n${agentError ?? ""}` } : null,
      onRetry: () => run.listener.onProgress("The engine was restarted; the agent runs again"),
    });
  } finally {
    for (const { place } of additional) await place[Symbol.asyncDispose]();
  }
}

/** The agent runs as the owner of its workspace, and could not write to anyone else's. */
function foreignFolders({ workspace, state, ipc }: AgentFolders): readonly string[] {
  const { uid } = workspace.owner;
  const foreign = [state, ipc].filter(({ owner }) => owner.uid !== uid && uid !== 0);
  if (foreign.length === 0) return [];
  return [
    `the agent runs as user ${uid}, to whom the group's workspace belongs; folders of it below data/ belong to another user, so that it may be unable to write there.`,
  ];
}

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
async function runInContainer(run: AgentRun, ready: ReadyAgent): Promise<AgentResult> {
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
  const { judged, error } = await conclude(run, ended);
  const changed = await tooling.end();
  return {
    result: resultOf(run, ready, { judged, error, worked, log: log.name, toolingFiles: changed.changed }),
    warnings: [
      ...warnings,
      ...back.warnings.map((text) => redaction.text(text)),
      ...setuid,
      ...networkWarnings(worked.networkReport, judged.outcome),
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
): Promise<Pick<Facts, "judged" | "error">> {
  const judged = await judgeRun({
    sandbox,
    record,
    end: worked.end,
    isLost: () => sandbox.state !== "running",
    networkReport: () => Promise.resolve(worked.networkReport),
  });
  await sandbox.remove();
  const error = concludeRun(judged, {
    ids,
    logger,
    explain: (each) => endedFor() ?? explainEnding(each, copies === null ? words : wordsOfCopies, spec.limits),
  });
  return { judged, error };
}

interface Facts {
  readonly judged: JudgedRun<BoundedOutput>;
  readonly error: AgentResult["error"];
  readonly worked: WorkedAgent;
  readonly log: string;
  readonly toolingFiles: AgentResult["toolingFiles"];
}

function resultOf(
  { spec, dependencies, ids }: AgentRun,
  { capabilities }: ReadyAgent,
  { judged, error: ofRun, worked, log, toolingFiles }: Facts,
): AgentResult {
  const { end, outcome, memoryPeakBytes, policyDigest } = judged;
  const endedByItself = end.interruption === null && end.exitCode !== null;
  const answer = readAnswer(worked.marked, log);
  const error = ofRun ?? (endedByItself ? answer.error : null);
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

interface LogsToPrune {
  readonly folder: Pick<OpenPlace, "stablePath">;
  readonly platform: NodeJS.Platform;
  /** How many of the newest ones to keep. */
  readonly maxLogs: number;
  /** Name of the file that is being written, which is kept and counts. */
  readonly current: string;
}

/** Names of run logs: the start time, and a number if several started at the same time. */
const logName = /^container-(\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z)(?:-(\d{1,3}))?\.log$/;

/** A limit in case an agent filled the folder; the rest waits for a later run. */
const maxEntries = 10_000;

/**
 * Removes the oldest logs of a group's runs. Call this while no agent of the group is running, as agents can write to
 * the folder. Files with other names are kept; a link in a log's place is removed, but not its target. Never rejects:
 * leftover logs do no harm.
 */
export async function pruneLogs({ folder, platform, maxLogs, current }: LogsToPrune): Promise<void> {
  try {
    await using held = await HostFolder.of(folder, platform);
    const others: string[] = [];
    let entries = 0;
    for await (const { name } of await opendir(held.self)) {
      if (logName.test(name) && name !== current) others.push(name);
      if ((entries += 1) >= maxEntries) break;
    }
    const old = others.toSorted(byTime).slice(0, Math.max(0, others.length - (maxLogs - 1)));
    for (const name of old) await unlink(held.at(name)).catch(() => undefined);
  } catch {
    // Moved away, or unreadable for this user: the next run tries again.
  }
}

/** Of two with the same time, the one without a number or with the lower one is older. */
function byTime(one: string, other: string): number {
  const [, time = "", count = "0"] = logName.exec(one) ?? [];
  const [, otherTime = "", otherCount = "0"] = logName.exec(other) ?? [];
  if (time === otherTime) return Number(count) - Number(otherCount);
  return time < otherTime ? -1 : 1;
}

/** Time in addition to the agent's own before a sweep may remove its sandbox: for start and removal. */
const lifetimeMarginMs = 300_000;

interface AgentPlanFacts {
  readonly capabilities: Capabilities;
  readonly mounts: readonly MountSpec[];
  /** Scratch on this machine's disk; null: the engine's own. */
  readonly scratchMounts: readonly MountSpec[] | null;
  readonly user: PlaceOwner;
  readonly programEnvironment: Readonly<Record<string, string>>;
}

/** The sandbox of one run: a read-only image, scratch for the agent's home and `/tmp`, and the mounts, or scratch for copies of them. */
function agentPlan(
  spec: AgentSpec,
  facts: AgentPlanFacts,
): { readonly plan: SandboxPlan; readonly warnings: readonly string[] } {
  const { capabilities, mounts, scratchMounts, user, programEnvironment } = facts;
  const scratch =
    scratchMounts === null ? divideScratch(spec.limits, capabilities.scratch) : watchedScratch(spec.limits);
  const isCopied = !capabilities.hostPaths;
  const places = isCopied ? scratch.places.flatMap(withCopies) : scratch.places.map(placeInHome);
  const plan: SandboxPlan = {
    kind: "agent",
    id: spec.sandboxId,
    labels: spec.labels,
    givenName: spec.name,
    image: spec.image,
    ociRuntime: spec.ociRuntime,
    limits: spec.limits,
    scratch: places,
    sharedMemoryBytes: scratch.sharedMemoryBytes,
    mounts: [...(scratchMounts ?? []).map(intoHome), ...mounts],
    ...(isCopied ? {} : { processUser: `${user.uid}:${user.gid}` }),
    workingDirectory: agentPaths.group,
    lifetimeMs: spec.limits.timeoutMs + lifetimeMarginMs,
    programEnvironment,
  };
  return {
    plan,
    warnings: [...(scratch.note === null ? [] : [scratch.note]), ...(isCopied ? [] : rootWarnings(user))],
  };
}

function placeInHome(place: ScratchPlace): ScratchPlace {
  return place.path === workFolder ? { ...place, path: agentPaths.home } : place;
}

/** Copies of folders take most of the place; the agent's home has a quarter of it. */
function withCopies(place: ScratchPlace): readonly ScratchPlace[] {
  if (place.path !== workFolder) return [place];
  const homeBytes = Math.floor(place.sizeBytes / 4);
  return [
    { path: agentPaths.home, sizeBytes: homeBytes },
    { path: agentPaths.workspace, sizeBytes: place.sizeBytes - homeBytes },
  ];
}

function intoHome(mount: MountSpec): MountSpec {
  return mount.target === workFolder ? { ...mount, target: agentPaths.home } : mount;
}

function rootWarnings({ uid }: PlaceOwner): readonly string[] {
  if (uid !== 0) return [];
  return [
    "the group's workspace belongs to root, so the agent runs as root without any capability; give the group's folders to a user of their own for a stronger wall.",
  ];
}

/**
 * Agents need containers, with folders of this machine mounted, or with copies of them.
 * @throws UNSUPPORTED naming the engine, what is missing and the alternative
 */
function assertCanHoldAgents(capabilities: Capabilities, engine: EngineName): void {
  const { images, execUser, hostPaths } = capabilities;
  if (images && (execUser || !hostPaths)) return;
  throw new GloveboxError("UNSUPPORTED", `Engine ${engine} runs no containers, which agents live in.`, {
    suggestion: "Choose an engine with containers (`glovebox doctor` lists them).",
    context: { engine, missing: "images" },
  });
}
