import type { AlertSink } from "../base/alert-sink.ts";
import type { Capabilities } from "../engines/capabilities.ts";
import type { Packages } from "../packages/packages.ts";
import type { ChangedToolingFile } from "../policy/tooling-changes.ts";
import type { ToolingFilesMode } from "../policy/tooling-files.ts";
import type { Caller } from "../sandbox/sandboxes.ts";
import type { ProgramSecret } from "../sandbox/program-secret.ts";
import { planProjectSandbox, type ProjectSettings, type PlannedSandbox } from "./dependencies/project-sandbox.ts";
import type { ProjectRunDependencies, ProjectRunListener } from "./project/project-run.ts";
import { FolderGuard, type GuardedFolders } from "./run/guard-folders.ts";
import { mountSpecs, setuidWarnings, type HostMount, type FolderWords } from "./run/host-mount.ts";
import { toolingWarnings, type ToolingReport } from "./run/explain-tooling.ts";
import { runResult, type ProgramResult, type RunResult } from "./run/program-result.ts";
import { untilCancelled } from "../base/abort.ts";
import type { EngineName } from "../engines/engine.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import { checkPackages, ecosystemOf } from "../policy/install-policy.ts";
import { chooseImage } from "./dependencies/choose-image.ts";
import { chooseInstallation, projectTools, type Installation, type ImageName } from "./dependencies/project-tools.ts";
import { checkEngine } from "./program/check-engine.ts";
import { chooseRuntime } from "../languages/choose-runtime.ts";
import { providePackages } from "./program/provide-packages.ts";
import { readProject } from "./project/read-project.ts";
import { loggingFailure, concludeRun, judgeRun, type RunIds } from "./run/conclude-run.ts";
import type { NetworkGrant } from "../egress/network-access.ts";
import type { ProvidedPackages } from "../packages/provided-packages.ts";
import { Redaction } from "../policy/redaction.ts";
import type { Profile } from "../policy/profile.ts";
import type { OpenRun } from "../sandbox/run-record.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import {
  explainInstallation,
  installDependencies,
  type InstalledDependencies,
} from "./dependencies/install-dependencies.ts";
import { runLine } from "./dependencies/run-line.ts";
import { describeCommand } from "./run/describe-work.ts";
import { explainEnding, type RunWords } from "./run/explain-ending.ts";
import { OwnerTooling } from "./run/owner-tooling.ts";

/** A checked command in a project (SPEC UI1); every value is within the policy already. */
export interface ProjectCommandSpec extends ProjectSettings {
  /** The project's folder on this machine, open, and where it is in the sandbox. */
  readonly project: HostMount;
  /** A shell line. */
  readonly command: string;
  readonly stdin: AsyncIterable<Uint8Array>;
  /** As `checkPackages` gives them for the language of the project's image; empty: none. */
  readonly packages: readonly string[];
  readonly secrets: readonly ProgramSecret[];
  readonly toolingFiles: ToolingFilesMode;
  readonly toolingPaths: readonly string[];
}

export interface ProjectCommandDependencies extends ProjectRunDependencies, Pick<GuardedFolders, "setuidAlerts"> {
  readonly packages: Pick<Packages, "projects" | "provide">;
  readonly toolingAlerts: AlertSink<ToolingReport>;
}

/** One command: what is requested, by whom, and who is told. */
interface ProjectCommandRun {
  readonly spec: ProjectCommandSpec;
  readonly dependencies: ProjectCommandDependencies;
  readonly caller: Caller;
  readonly listener: ProjectRunListener;
  readonly capabilities: Capabilities;
}

/** The outcome of a command in a project. */
export interface ProjectCommandResult extends ProgramResult {
  /** Null where the engine has no images. */
  readonly image: string | null;
  /** What was run to install; null: nothing. */
  readonly setupCommand: string | null;
  /** The requested packages in the versions that the command had. */
  readonly packages: readonly string[];
  /** What has changed of the files that tools of the project's owner run. */
  readonly toolingFiles: readonly ChangedToolingFile[];
}

/**
 * Runs one command in a fresh sandbox that has a project of this machine itself, not a copy of it: what it writes there is
 * the owner's (SPEC UI1). A command that fails is a result.
 * @throws UNSUPPORTED, IMAGE_UNAVAILABLE, PACKAGE_INSTALL_FAILED, ENGINE_UNAVAILABLE, CAPACITY, POLICY_DENIED for a folder
 * that was exchanged, and CANCELLED when given up before it started
 */
export function runProjectCommand(
  spec: ProjectCommandSpec,
  dependencies: ProjectCommandDependencies,
  caller: Caller,
  listener: ProjectRunListener,
): Promise<ProjectCommandResult> {
  const ids: RunIds = { principal: caller.principal };
  return loggingFailure(dependencies.logger, ids, async () => {
    const { capabilities, warnings } = await checkEngine({ ...spec, engine: dependencies.engine }, spec, caller);
    if (!capabilities.images) throw noProjects(dependencies.engine.name);
    const result = await prepareAndRun(ids, { spec, dependencies, caller, listener, capabilities });
    return { ...result, warnings: [...warnings, ...result.warnings] };
  });
}

async function prepareAndRun(ids: RunIds, run: ProjectCommandRun): Promise<ProjectCommandResult> {
  const { spec, dependencies, caller, listener, capabilities } = run;
  const { engine, network, packages } = dependencies;
  const { place, readOnly } = spec.project;
  const { names } = await readProject(place, dependencies.platform);
  const tools = projectTools(spec.command, names);
  const { installation, warnings } = installationOf(spec, { names, tools, readOnly });
  const image = await chooseImage({
    ...spec,
    project: place,
    defaultImage: spec.defaultImages[tools.image],
    hasImages: capabilities.images,
    platform: dependencies.platform,
    provideImage: dependencies.provideImage,
  });
  const language = languages[tools.image];
  const runtime = tools.image === "bun" ? "bun" : undefined;
  const toolchain = chooseRuntime({ language, runtime, usual: "execute" }, capabilities, engine.name);
  const ecosystem = ecosystemOf(language);
  const wanted = checkPackages(spec.packages, ecosystem);
  const programPlace = { engine, capabilities, toolchain };
  const follow = { ...caller, ...listener };
  await using provided =
    ecosystem === null
      ? null
      : await providePackages({ ...spec, packages: wanted, ecosystem, image }, programPlace, packages, follow);
  const grant = await untilCancelled(network.grant(spec.network, caller.principal), caller.signal);
  const result = await runWithProject(ids, run, { image, installation, packages: provided, grant });
  return { ...result, warnings: [...warnings, ...result.warnings] };
}

const languages: Readonly<Record<ImageName, "python" | "javascript">> = {
  python: "python",
  javascript: "javascript",
  bun: "javascript",
};

/** Where installers put what they install. */
const installedFolders: ReadonlySet<string> = new Set(["node_modules", ".venv"]);

/** What is already there is used as it is: it may be the owner's own. */
function installationOf(
  { setupCommand }: Pick<ProjectCommandSpec, "setupCommand">,
  project: {
    readonly names: readonly string[];
    readonly tools: ReturnType<typeof projectTools>;
    readonly readOnly: boolean;
  },
): { readonly installation: Installation; readonly warnings: readonly string[] } {
  const { names, tools, readOnly } = project;
  const isThere = names.some((name) => installedFolders.has(name));
  if (setupCommand === undefined && isThere) return { installation: null, warnings: [] };
  const installation = chooseInstallation({ setupCommand, includeIgnored: false, names, tools });
  if (!readOnly || setupCommand !== undefined || installation === null) return { installation, warnings: [] };
  const warning = "The project is read-only, so that nothing was installed by its lockfile.";
  return { installation: null, warnings: [warning] };
}

/** What is mounted could not be compared with what was checked. */
function noProjects(engine: EngineName): GloveboxError {
  return new GloveboxError("UNSUPPORTED", `Engine ${engine} gives no command a project of this machine to change.`, {
    suggestion:
      "Use an engine with containers (`glovebox doctor` lists them), or `glovebox test`, which works on a copy of the project.",
    context: { engine, missing: "images" },
  });
}

/** Everything that a command needs besides its sandbox, ready to use. */
interface ReadyCommand {
  readonly image: string;
  readonly installation: Installation;
  readonly packages: ProvidedPackages | null;
  /** Null: no network. */
  readonly grant: NetworkGrant | null;
}

/** The sandbox of a command, and its names. */
interface CommandPlace {
  readonly ids: RunIds;
  readonly sandbox: Sandbox;
  readonly record: OpenRun;
  readonly profile: Profile;
  /** Why the sandbox was ended while it worked, if it was. */
  readonly endedFor: () => RunResult["error"];
}

/** Files and folders that the project may grow by, as those of an environment (SPEC LI1). */
const maxFiles = 1_000_000;

const folderWords: FolderWords = { subject: "command", folders: "the project" };
const words: RunWords = {
  subject: "command",
  sandbox: "The sandbox",
  suggestions: {},
  outOfMemory: (limit) => `The command ran out of its ${limit} of memory.`,
};
const rootWarning =
  "the project belongs to root, so the command runs as root without any capability; give the project to a user of its own for a stronger wall.";

/** Opens a sandbox with the project, installs, runs the command and removes it. @throws as `runProjectCommand` */
async function runWithProject(ids: RunIds, run: ProjectCommandRun, ready: ReadyCommand): Promise<ProjectCommandResult> {
  const { spec, dependencies, caller, listener, capabilities } = run;
  const { engine, sandboxes } = dependencies;
  const mounts = [spec.project];
  const { diskBytes, timeoutMs } = spec.limits;
  const setuid = setuidWarnings(mounts, { capabilities, engine: engine.name, words: folderWords });
  const names = new Redaction(spec.secrets);
  await using planned = await planSandbox(run, ready);
  await using tooling = await OwnerTooling.open({
    ...{ ...dependencies, ...spec, mounts },
    redact: (text) => names.text(text),
  });
  const locks = await tooling.locks();
  await using guard = await FolderGuard.open({ ...dependencies, mounts, diskBytes, maxFiles, words: folderWords });
  const project = await mountSpecs(mounts);
  const packages = ready.packages?.mount ?? [];
  const plan = { ...planned.plan, mounts: [planned.plan.mounts ?? [], packages, project, locks].flat() };
  await using sandbox = await sandboxes.open(engine, { ...plan, id: spec.sandboxId, givenName: spec.name }, caller);
  planned.scratch?.watch(sandbox);
  ids.sandbox = sandbox.id;
  const work = describeCommand(spec.command, new Redaction(spec.secrets));
  const record = (ids.record = sandbox.beginRun({ ...ids, work, timeoutMs, network: spec.network }));
  listener.onSandbox(sandbox.id);
  tooling.begin(sandbox, { locks, engine: engine.name });
  await guard.begin(sandbox, { engine, sandboxes });
  const endedFor = (): RunResult["error"] => planned.scratch?.error ?? guard.error;
  const at = { ids, sandbox, record, profile: planned.profile, endedFor };
  const { installed, result } = await installAndRun(run, ready, at).catch((error: unknown) => {
    throw endedFor() ?? error;
  });
  const changed = await tooling.end();
  return {
    ...result,
    image: capabilities.images ? ready.image : null,
    setupCommand: installed.line,
    packages: ready.packages?.resolved ?? [],
    engine: engine.name,
    isolation: capabilities.isolation,
    ociRuntime: spec.ociRuntime ?? null,
    toolingFiles: changed.changed,
    warnings: [
      spec.project.place.owner.uid === 0 ? rootWarning : [],
      setuid,
      planned.profile.scratch.note ?? [],
      ready.packages?.warnings ?? [],
      ready.grant?.warnings ?? [],
      installed.warnings,
      result.warnings,
      toolingWarnings(changed),
    ].flat(),
  };
}

/** A sandbox without the project; one like it installs what is kept for later runs. */
function planSandbox(
  { spec, dependencies, capabilities }: ProjectCommandRun,
  { image, packages, grant }: ReadyCommand,
): Promise<PlannedSandbox> {
  const { uid, gid } = spec.project.place.owner;
  const facts = {
    ...{ kind: "environment" as const, capabilities, image, grant, packageEnvironment: packages?.environment },
    // What it writes to the project is its owner's.
    processUser: `${uid}:${gid}`,
  };
  return planProjectSandbox(spec, facts, dependencies);
}

async function installAndRun(
  run: ProjectCommandRun,
  ready: ReadyCommand,
  at: CommandPlace,
): Promise<{ readonly installed: InstalledDependencies; readonly result: RunResult }> {
  const { spec, dependencies, caller, listener } = run;
  const { sandbox, profile } = at;
  const keeping = {
    ...dependencies,
    ociRuntime: spec.ociRuntime,
    diskBytes: spec.limits.diskBytes,
    planLike: () => planSandbox(run, ready),
  };
  const { installation, image } = ready;
  const { environment } = profile;
  const installed = await installDependencies(
    sandbox,
    { ...dependencies, ...listener, installation, image, keeping, environment, timeoutMs: spec.setupTimeoutMs },
    caller,
  );
  if (installed.line !== null && installed.failed !== null) throw explainInstallation(installed.line, installed.failed);
  return { installed, result: await runCommand(run, ready, at) };
}

/** Runs the command itself, and removes its sandbox. */
async function runCommand(
  { spec, dependencies, caller, listener }: ProjectCommandRun,
  { image, grant }: ReadyCommand,
  { ids, sandbox, record, profile, endedFor }: CommandPlace,
): Promise<RunResult> {
  const { oomKills: oomKillsBefore } = await sandbox.stats();
  const ended = await runLine(sandbox, {
    ...dependencies,
    image,
    grant,
    line: spec.command,
    stdin: spec.stdin,
    secrets: spec.secrets,
    environment: profile.environment,
    timeoutMs: spec.limits.timeoutMs,
    maxOutputBytes: 0,
    maxStreamBytes: dependencies.maxOutputBytes,
    signal: caller.signal,
    onOutput: ({ stream, bytes }) => listener.onOutput(stream, bytes),
    onDenied: listener.onDenied,
  });
  const judged = await judgeRun({
    sandbox,
    record,
    end: ended.end,
    isLost: () => sandbox.state !== "running",
    oomKillsBefore,
    networkReport: () => Promise.resolve(ended.networkReport),
  });
  await sandbox.remove();
  const error = concludeRun(judged, {
    ids,
    logger: dependencies.logger,
    explain: (each) => (each.outcome === "sandbox_lost" ? endedFor() : null) ?? explainEnding(each, words, spec.limits),
  });
  return runResult({ ...judged, error }, sandbox.id, ended.redaction);
}
