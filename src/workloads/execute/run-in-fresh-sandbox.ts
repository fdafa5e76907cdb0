import type { NetworkGrant } from "../../egress/network-access.ts";
import type { Capabilities } from "../../engines/capabilities.ts";
import type { ProvidedPackages } from "../../packages/provided-packages.ts";
import { executeProfile, type Profile } from "../../policy/profile.ts";
import { watchedScratch } from "../../policy/scratch.ts";
import { Redaction } from "../../policy/redaction/redaction.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { Caller } from "../../sandbox/sandboxes.ts";
import { toolchains, type Toolchain } from "../program/languages.ts";
import { planOf } from "../program/plan-of.ts";
import type { RunnerFile, RunnerJob } from "../program/runner-job.ts";
import { concludeRun } from "../run/conclude-run.ts";
import { describeWork } from "../run/describe-work.ts";
import type { WatchedScratch } from "../run/disk/watched-scratch.ts";
import { explainProgram } from "../run/explain-program.ts";
import type { RunIds } from "../run/log-ending.ts";
import { unlessLost } from "../run/unless-lost.ts";
import { runResult, type RunResult } from "../run/program-result.ts";
import { runProgram } from "../run/run-program.ts";
import { startProgram } from "../run/start-program.ts";
import { collectArtifacts, type Artifact, type CollectedArtifacts } from "./artifacts.ts";
import { assertFilesFit } from "./context-file-room.ts";
import type { Execution } from "./execution.ts";
import type { ExecuteSpec } from "./execute-spec.ts";
import { leftOutWarnings } from "./left-out-artifacts.ts";
import { openFolders, type MountedFolders } from "./mounted-folders.ts";
import { redactArtifact } from "./redact-artifact.ts";
import { openSandbox } from "./open-sandbox.ts";
import { runnerExec } from "./runner-exec.ts";

/** What a program needs in addition to its sandbox, all of it ready. */
export interface ReadyProgram {
  readonly toolchain: Toolchain;
  readonly capabilities: Capabilities;
  readonly files: readonly RunnerFile[];
  readonly packages: ProvidedPackages | null;
  /** Null: no network. */
  readonly grant: NetworkGrant | null;
  /** As `SandboxToOpen`. */
  readonly provideImage: (() => Promise<void>) | null;
}

/** The result of a program, and the files that it left. */
type FreshRunResult = RunResult & { readonly artifacts: readonly Artifact[] };

/** The folders on this machine's disk that it has. */
interface Places {
  readonly scratch: WatchedScratch | null;
  readonly folders: MountedFolders | null;
}

/** Time in addition to the program's own before a sweep may remove its sandbox: for start, artifacts and removal. */
const lifetimeMarginMs = 300_000;

/**
 * Opens a sandbox, runs the program in it, collects the artifacts and removes it. @throws CAPACITY, what the engine
 * throws
 */
export async function runInFreshSandbox(
  ids: RunIds,
  execution: Execution,
  ready: ReadyProgram,
): Promise<FreshRunResult> {
  const { openLargeScratch } = execution.dependencies;
  await using scratch = await openLargeScratch(execution.spec, ready.capabilities);
  try {
    return await runWithScratch(ids, execution, { ...ready, scratch });
  } catch (error) {
    throw scratch?.error ?? error;
  }
}

async function runWithScratch(
  ids: RunIds,
  execution: Execution,
  ready: ReadyProgram & Pick<Places, "scratch">,
): Promise<FreshRunResult> {
  const { spec, dependencies, caller, listener } = execution;
  const { engine, sandboxes, logger } = dependencies;
  const { signal } = caller;
  const { toolchain, files, packages, grant, scratch, provideImage } = ready;
  await using folders = await openFolders(execution, ready.capabilities);
  const profile = profileOf(spec, { ...ready, folders });
  assertFilesFit(spec, profile.scratch, ready.capabilities);
  const redaction = new Redaction(spec.secrets);
  const plan = planOf(profile, spec.limits.timeoutMs + lifetimeMarginMs);
  const mounts = [packages?.mount ?? [], scratch?.mounts ?? [], folders?.mounts ?? []].flat();
  const needs = { toolchain, mainFile: spec.mainFile, profile };
  const hasOwnPlaces = scratch !== null || folders !== null;
  const toOpen = { plan: { ...plan, mounts }, needs, hasOwnPlaces, packages, provideImage };
  const opened = await openSandbox(execution, toOpen);
  await using sandbox = opened.sandbox;
  scratch?.watch(sandbox);
  ids.sandbox = sandbox.id;
  const { timeoutMs } = spec.limits;
  const work = spec.work ?? describeWork(spec.language, spec.code, new Redaction(spec.secrets));
  const record = (ids.record = sandbox.beginRun({ ...ids, work, timeoutMs, network: spec.network }));
  listener.onSandbox(sandbox.id);
  await folders?.guard.begin(sandbox, { engine, sandboxes });
  const folder = sandbox.folderOf(profile.workingDirectory);
  let written: CollectedArtifacts | null = { artifacts: [], leftOut: [] };
  const run = await runProgram({
    ...listener,
    ...dependencies,
    sandbox,
    record,
    start: (redact) =>
      startProgram({
        sandbox,
        runner: async () => opened.process ?? sandbox.exec(await runnerExec(needs, sandbox), { signal }),
        grant,
        onDenied: listener.onDenied,
        redact,
        signal,
      }),
    job: jobOf(spec, files, folder),
    stdin: spec.stdin,
    redaction,
    timeoutMs,
    signal,
    end: (process) => sandbox.endProcess(process),
    isLost: async () => {
      // By another command of this user.
      if (sandbox.state !== "running") return true;
      if (spec.artifacts.length > 0)
        written = await unlessLost(sandbox, artifactsOf(spec, sandbox, caller), { signal });
      return written === null;
    },
  });
  const artifacts = (written?.artifacts ?? []).map((artifact) => redactArtifact(artifact, redaction));
  const leftOut = (written?.leftOut ?? []).map(({ path, reason }) => ({ path: redaction.text(path), reason }));
  // The code that killed it must know that nothing of it is running any more, and so must its mounts and its network.
  if (mounts.length > 0 || grant !== null || run.end.interruption !== null) await sandbox.remove();
  else sandbox.leave();
  const concluded = concludeRun(run, {
    ids,
    logger,
    explain: (judged) =>
      (judged.outcome === "sandbox_lost" ? (scratch?.error ?? folders?.guard.error) : null) ??
      explainProgram(judged, { ...spec, toolchain, files, nameOf: (path) => `${folder}/${path}` }),
  });
  const result = runResult(concluded, sandbox.id, redaction);
  return {
    ...result,
    artifacts,
    warnings: [
      packages?.warnings ?? [],
      profile.scratch.note ?? [],
      grant?.warnings ?? [],
      folders?.warnings ?? [],
      leftOutWarnings(leftOut),
      result.warnings,
    ].flat(),
  };
}

function profileOf(
  spec: ExecuteSpec,
  { toolchain, capabilities, packages, grant, scratch, folders }: ReadyProgram & Places,
): Profile {
  const profile = executeProfile({
    image: spec.image,
    ociRuntime: spec.ociRuntime,
    limits: spec.limits,
    processUser: folders?.processUser,
    scratchStorage: capabilities.scratch,
    minIsolation: spec.minIsolation,
    network: spec.network,
    networkEnvironment: grant?.environment,
    packageEnvironment: packages?.environment,
    hostEnvironment: spec.hostEnvironment,
    environment: { ...toolchains[toolchain].environment, ...spec.environment },
  });
  return scratch === null ? profile : { ...profile, scratch: watchedScratch(spec.limits) };
}

function jobOf(spec: ExecuteSpec, files: readonly RunnerFile[], folder: string): RunnerJob {
  const environment = Object.fromEntries(spec.secrets.map(({ variable, value }) => [variable, value]));
  return { main: spec.mainFile, arguments: spec.arguments, environment, files, data: spec.dataFiles, folder };
}

function artifactsOf(spec: ExecuteSpec, sandbox: Sandbox, { signal }: Caller): Promise<CollectedArtifacts> {
  const ownPaths = [spec.mainFile, ...[...spec.contextFiles, ...spec.dataFiles].map((file) => file.path)];
  return collectArtifacts({ files: sandbox.files, globs: spec.artifacts, ownPaths, signal });
}
