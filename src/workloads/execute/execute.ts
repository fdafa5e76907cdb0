import { type RuntimeName, runtimeOf } from "../../languages/language-table.ts";
import { untilCancelled } from "../../base/abort.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { Caller } from "../../sandbox/sandboxes.ts";
import { checkEngine } from "../program/check-engine.ts";
import { compileFiles } from "../program/compile-files.ts";
import { chooseRuntime } from "../../languages/choose-runtime.ts";
import {
  provideImports,
  providePackages,
  checkImports,
  type Follow,
  type ProgramPackages,
  type ProgramPlace,
} from "../program/provide-packages.ts";
import { runnerCommand, readRunner, withRealFolders, type RunnerFile, type RunnerJob } from "../program/runner-job.ts";
import { syntaxFailure } from "../program/program-failure.ts";
import { loggingFailure, concludeRun, unlessLost, type RunIds } from "../run/conclude-run.ts";
import { refusedResult, runResult, type RunResult } from "../run/program-result.ts";
import type { ExecuteResult, ExecuteSpec, ExecuteDependencies, ExecuteListener, Execution } from "./execution.ts";
import { ecosystemOf } from "../../policy/install-policy.ts";
import type { ImportedPackages } from "../../packages/imported-packages.ts";
import type { NetworkGrant } from "../../egress/network-access.ts";
import { runsInterpretersOnly, type Capabilities } from "../../engines/capabilities.ts";
import type { ProvidedPackages } from "../../packages/provided-packages.ts";
import { executeProfile, type Profile } from "../../policy/profile.ts";
import { watchedScratch, workFolder, type ScratchDivision } from "../../policy/scratch.ts";
import { Redaction } from "../../policy/redaction.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { planOf } from "../program/plan-of.ts";
import { describeWork } from "../run/describe-work.ts";
import type { WatchedScratch } from "../run/watched-scratch.ts";
import { explainProgram } from "../run/explain-program.ts";
import { runProgram } from "../run/run-program.ts";
import { startProgram } from "../run/start-program.ts";
import {
  collectArtifacts,
  leftOutWarnings,
  describeContent,
  type Artifact,
  type CollectedArtifacts,
} from "./artifacts.ts";
import { formatBytes } from "../../base/bytes.ts";
import type { MountSpec } from "../../engines/container-spec.ts";
import { FolderGuard } from "../run/guard-folders.ts";
import { mountSpecs, setuidWarnings, type FolderWords } from "../run/host-mount.ts";
import type { Process, Engine, ExecSpec } from "../../engines/engine.ts";
import type { SandboxPlan } from "../../sandbox/sandbox-plan.ts";
import { createHash } from "node:crypto";
import { canonicalJson } from "../../base/json-text.ts";
import type { WarmKind } from "../../sandbox/warm-sandbox.ts";
import { withPlainOutput } from "../../policy/request/environment-variables.ts";

/**
 * Runs a program in a fresh sandbox that is used for nothing else, and removes the sandbox (SPEC EX2).
 *
 * A program that fails, runs out of time or memory, or does not compile is a result.
 * @throws UNSUPPORTED, IMAGE_UNAVAILABLE, PACKAGE_INSTALL_FAILED, ENGINE_UNAVAILABLE, CAPACITY, and CANCELLED if
 * aborted before it started
 */
export function execute(
  spec: ExecuteSpec,
  dependencies: ExecuteDependencies,
  caller: Caller,
  listener: ExecuteListener,
): Promise<ExecuteResult> {
  const ids: RunIds = { principal: caller.principal };
  return loggingFailure(dependencies.logger, ids, () => executeAs(ids, { spec, dependencies, caller, listener }));
}

async function executeAs(ids: RunIds, { spec, dependencies, caller, listener }: Execution): Promise<ExecuteResult> {
  const { engine } = dependencies;
  const { signal } = caller;
  const { capabilities, warnings } = await checkEngine({ ...spec, engine }, spec, caller);
  const provideImage = (): Promise<void> => dependencies.provideImage(spec.image, spec.imageOrigin);
  // Without packages nothing but a sandbox of its own needs the image.
  const isSeen =
    capabilities.images && spec.packages.length === 0 && dependencies.warm?.pool.foresees(engine.name, spec.image);
  const toolchain = chooseRuntime({ ...spec, usual: "execute" }, capabilities, engine.name);
  const code: RunnerFile = { path: spec.mainFile, content: Buffer.from(spec.code) };
  const compiled = await compileFiles([code, ...spec.contextFiles], toolchain, {
    compile: dependencies.compileTypeScript,
    signal,
  });
  const facts = { engine: engine.name, isolation: capabilities.isolation, ociRuntime: spec.ociRuntime ?? null };
  if ("syntaxError" in compiled) {
    const refused = refusedResult(syntaxFailure(compiled.syntaxError), warnings);
    return { ...facts, ...refused, packages: [], artifacts: [] };
  }
  if (isSeen !== true) await provideImage();
  const place = { engine, capabilities, toolchain };
  const follow = { ...caller, ...listener };
  const { provided, notes } = await programPackages(spec, place, dependencies, follow);
  await using _ = provided;
  const grant = await untilCancelled(dependencies.network.grant(spec.network, caller.principal), signal);
  const ready = {
    toolchain,
    capabilities,
    files: compiled.files,
    packages: provided,
    grant,
    provideImage: isSeen === true ? provideImage : null,
  };
  const result = await runInFreshSandbox(ids, { spec, dependencies, caller, listener }, ready);
  return {
    ...facts,
    ...result,
    packages: provided?.resolved ?? [],
    warnings: [...warnings, ...notes, ...result.warnings],
  };
}

/** The packages that a program gets: those that the request names, or with `auto` those that it imports. */
async function programPackages(
  spec: ExecuteSpec,
  place: ProgramPlace,
  { packages, findImports }: ExecuteDependencies,
  follow: Follow,
): Promise<ProgramPackages> {
  const { language, mainFile, code, contextFiles, dataFiles, packages: named } = spec;
  const ecosystem = ecosystemOf(language);
  if (ecosystem === null) return { provided: null, notes: [] };
  if (named !== "auto") {
    const wanted = { ...spec, ecosystem, packages: named };
    return { provided: await providePackages(wanted, place, packages, follow), notes: [] };
  }
  const others = contextFiles.map(({ path, content }) => ({ path, content: Buffer.from(content).toString("utf8") }));
  const data = dataFiles.map(({ path }) => ({ path, content: "" }));
  const files = [{ path: mainFile, content: code }, ...others, ...data];
  let found: ImportedPackages;
  try {
    found = await findImports({ language, files }, follow);
  } catch (error) {
    if (follow.signal?.aborted === true || !(error instanceof GloveboxError)) throw error;
    // Code that no parser accepts may still run.
    return { provided: null, notes: [`No package was looked for. ${error.message}`] };
  }
  return provideImports(checkImports(found, ecosystem), { ...spec, ecosystem }, place, packages, follow);
}

/** What a program needs in addition to its sandbox, all of it ready. */
interface ReadyProgram {
  readonly toolchain: RuntimeName;
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
async function runInFreshSandbox(ids: RunIds, execution: Execution, ready: ReadyProgram): Promise<FreshRunResult> {
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
  const error = concludeRun(run, {
    ids,
    logger,
    explain: (judged) =>
      (judged.outcome === "sandbox_lost" ? (scratch?.error ?? folders?.guard.error) : null) ??
      explainProgram(judged, { ...spec, toolchain, files, nameOf: (path) => `${folder}/${path}` }),
  });
  const result = runResult({ ...run, error }, sandbox.id, redaction);
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
    environment: { ...runtimeOf(toolchain).environment, ...spec.environment },
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

/** A file system allocates whole pages. */
const pageBytes = 4096;

/**
 * Refuses files that do not fit in the working folder, before a sandbox is started for them.
 * @throws INVALID_REQUEST
 */
export function assertFilesFit(
  { code, contextFiles, dataFiles }: Pick<ExecuteSpec, "code" | "contextFiles" | "dataFiles">,
  { places, difference }: ScratchDivision,
  capabilities: Pick<Capabilities, "scratch">,
): void {
  const room = places.find(({ path }) => path === workFolder)?.sizeBytes;
  // Without a size of its own, it is subject to the disk limit, or to none at all.
  if (room === undefined || capabilities.scratch === "none") return;
  const sizes = [...contextFiles.map(({ content }) => content.length), ...dataFiles.map(({ sizeBytes }) => sizeBytes)];
  if (sizes.length === 0) return;
  const needed = [Buffer.byteLength(code), ...sizes].reduce((sum, size) => sum + wholePages(size), 0);
  if (needed <= room) return;
  const why = difference === null ? "" : ` (${difference})`;
  throw new GloveboxError(
    "INVALID_REQUEST",
    `context_files: expected at most ${formatBytes(room)} in all files, which is the room of the working folder${why}, found ${formatBytes(needed)}.`,
    {
      suggestion:
        "Raise limits.memory_mb, or name limits.disk_mb: where the engine can, what is more than half of the memory limit is then kept on disk.",
      context: { field: "context_files" },
    },
  );
}

function wholePages(bytes: number): number {
  return Math.ceil(bytes / pageBytes) * pageBytes;
}

/** Folders of this machine for one program, watched until this is disposed. */
interface MountedFolders extends AsyncDisposable {
  readonly mounts: readonly MountSpec[];
  readonly guard: FolderGuard;
  /** Owner of the first of them, `uid:gid`, who then owns what programs write there. */
  readonly processUser: string;
  readonly warnings: readonly string[];
}

const words: FolderWords = { subject: "program", folders: "the mounted folders" };

/**
 * The folders of this machine that a program gets, null for none. @throws UNSUPPORTED if setuid bits cannot be
 * prevented
 */
async function openFolders(
  { spec, dependencies }: Execution,
  capabilities: Capabilities,
): Promise<MountedFolders | null> {
  const [first] = spec.mounts;
  if (first === undefined) return null;
  const mounts = await mountSpecs(spec.mounts);
  const setuid = setuidWarnings(spec.mounts, { capabilities, engine: dependencies.engine.name, words });
  const { diskBytes } = spec.limits;
  const guard = await FolderGuard.open({ ...dependencies, mounts: spec.mounts, diskBytes, words });
  const { uid, gid } = first.place.owner;
  return {
    mounts,
    guard,
    processUser: `${uid}:${gid}`,
    warnings: [...setuid, ...(uid === 0 ? [rootWarning] : [])],
    [Symbol.asyncDispose]: () => guard[Symbol.asyncDispose](),
  };
}

const rootWarning =
  "the mounted folder belongs to root, so the program runs as root without any capability; give the folder to a user of its own for a stronger wall.";

/** The artifact without the values of secrets in its content and its path; its size stays that of the file. */
function redactArtifact(artifact: Artifact, redaction: Redaction): Artifact {
  const path = redaction.text(artifact.path);
  const bytes = Buffer.from(artifact.content, artifact.encoding);
  const redacted = redaction.bytes(bytes);
  if (Buffer.compare(bytes, redacted) === 0) return { ...artifact, path };
  return { ...artifact, path, ...describeContent(path, redacted) };
}

/** A sandbox, and the runner in it if one is already waiting there. */
interface OpenedSandbox {
  readonly sandbox: Sandbox;
  readonly process: Process | null;
}

/** What to create it from. */
interface SandboxToOpen {
  readonly plan: SandboxPlan;
  readonly needs: RunnerNeeds;
  /** Whether parts of it are opened just for this run. */
  readonly hasOwnPlaces: boolean;
  /** Mounted in it; null: none. */
  readonly packages: Pick<ProvidedPackages, "hold"> | null;
  /** Has the image pulled or built when it is missing, for one of its own; null: that has been done. */
  readonly provideImage: (() => Promise<void>) | null;
}

/**
 * A sandbox for one run: a warm one if there is a suitable one that the run may use, else a new one.
 * @throws CAPACITY, CANCELLED, IMAGE_UNAVAILABLE, and what the engine throws
 */
async function openSandbox(
  { spec, dependencies, caller }: Execution,
  { plan, needs, hasOwnPlaces, packages, provideImage }: SandboxToOpen,
): Promise<OpenedSandbox> {
  const { engine, sandboxes, warm } = dependencies;
  const { sandboxId: id, labels, name: givenName } = spec;
  if (warm !== null && !hasOwnPlaces) {
    const { programEnvironment = {} } = plan;
    const identity = { labels, givenName: givenName ?? null, programEnvironment, ...(id === undefined ? {} : { id }) };
    const kind = warmKindOf(spec, { ...needs, ...warm, engine, plan, packages });
    const taken = await warm.pool.take(kind, { ...caller, identity });
    if (taken !== null) return taken;
  }
  await provideImage?.();
  return { sandbox: await sandboxes.open(engine, { ...plan, id, labels, givenName }, caller), process: null };
}

/** What a run needs, as for a cold start. */
interface WarmNeeds extends RunnerNeeds {
  readonly engine: Engine;
  readonly plan: SandboxPlan;
  /** Mounted in it; null: none. */
  readonly packages: Pick<ProvidedPackages, "hold"> | null;
  /** Longest time limit that any run may request. */
  readonly maxTimeoutMs: number;
  readonly maxAgeMs: number;
}

/**
 * The kind of warm sandbox that can serve such a run. Its key contains everything that a cold start would get,
 * including the program's variables; only what comes with the job may differ: code, files, arguments, secrets, input.
 */
function warmKindOf(spec: ExecuteSpec, needs: WarmNeeds): WarmKind {
  const { engine, plan: asked, profile, toolchain, mainFile, packages } = needs;
  const { id: _, labels: __, givenName: ___, programEnvironment: ____, lifetimeMs, limits, ...rest } = asked;
  const { cpus, memoryBytes, pids } = limits;
  const plan = { ...rest, limits: { cpus, memoryBytes, pids } };
  const { workingDirectory, environment } = profile;
  const facts = { engine: engine.name, plan, toolchain, mainFile, workingDirectory, environment };
  return {
    key: createHash("sha256").update(canonicalJson(facts)).digest("hex"),
    engine,
    plan: { ...plan, lifetimeMs: lifetimeMs - spec.limits.timeoutMs + needs.maxTimeoutMs + needs.maxAgeMs },
    ...(packages === null ? {} : { hold: () => packages.hold() }),
    // Variables may differ with each request.
    worthFrom: Object.keys(spec.environment).length === 0 ? 1 : 2,
    prepare: async (sandbox, options) =>
      sandbox.exec(await runnerExec({ toolchain, mainFile, profile }, sandbox), options),
  };
}

/** What determines how the runner of a program is started. */
interface RunnerNeeds {
  readonly toolchain: RuntimeName;
  readonly mainFile: string;
  readonly profile: Pick<Profile, "workingDirectory" | "environment">;
}

/** The command that starts a runner in that sandbox, which then waits for its job. */
async function runnerExec(
  { toolchain, mainFile, profile }: RunnerNeeds,
  sandbox: Pick<Sandbox, "capabilities" | "folderOf">,
): Promise<ExecSpec> {
  const { workingDirectory, environment } = profile;
  const source = await readRunner(toolchain);
  const folder = sandbox.folderOf(workingDirectory);
  const withoutShell = runsInterpretersOnly(sandbox.capabilities);
  return {
    command: runnerCommand({ toolchain, mainFile, source, folder, withoutShell }),
    environment: withRealFolders(withPlainOutput(environment), sandbox),
    workingDirectory,
  };
}
