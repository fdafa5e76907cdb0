import type { ClearedFiles } from "../../sandbox/setuid-watch.ts";
import type { AlertSink } from "../../base/alert-sink.ts";
import { untilCancelled } from "../../base/abort.ts";
import { temporaryFolder } from "../../policy/scratch.ts";
import type { Caller, Sandboxes } from "../../sandbox/sandboxes.ts";
import type { Environment } from "./environment.ts";
import { environmentPlan, setupPlan } from "./environment-plan.ts";
import type { NetworkGrant, NetworkAccess } from "../../egress/network-access.ts";
import { gapSentences, type ChangedToolingFile } from "../../policy/tooling-changes.ts";
import type { SandboxPlan } from "../../sandbox/sandbox-plan.ts";
import { projectFolder, type EnvironmentSpec } from "./environment-spec.ts";
import { ToolingTraces } from "./tooling-traces.ts";
import { installingNetwork } from "../../policy/network/network.ts";
import type { RingOutput } from "../../base/streams/collected-bytes.ts";
import type { Process, Engine } from "../../engines/engine.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import { Redaction } from "../../policy/redaction.ts";
import { withPlainOutput } from "../../policy/request/environment-variables.ts";
import {
  EnvironmentContainer,
  type EnvironmentContainerParts,
  type EnvironmentParts,
} from "./environment-container.ts";
import { joinReports, type ToolingReport } from "../run/explain-tooling.ts";
import type { ProcessEnd } from "../run/watch-process.ts";
import { watchCommand } from "./environment-command.ts";
import type { Denial } from "../../policy/network/denial.ts";
import { afterRefusals } from "../run/network-report.ts";
import { GrowthWatch } from "../../sandbox/growth-watch.ts";
import { lockTooling } from "../../sandbox/lock-tooling.ts";
import { lookAtTooling } from "../../sandbox/look-at-tooling.ts";
import { rootWatch } from "../run/watch-disk.ts";
import type { ImageListener, ProvideImage } from "../program/ensure-image.ts";
import type { Environments } from "./environments.ts";
import type { Kit } from "../../base/kit.ts";

/**
 * Creates an environment; whatever goes wrong, nothing is left behind and its id can be reused (SPEC EV1).
 * @throws ALREADY_EXISTS, UNSUPPORTED, IMAGE_UNAVAILABLE, ENGINE_UNAVAILABLE, CAPACITY, CANCELLED, what `readSpec` throws
 */
export function openEnvironment(open: OpenEnvironment, caller: Caller): Promise<Environment> {
  const { engine, environments, sandboxes, network, logger, monotonicMs, now } = open;
  return environments.create(open, caller, async (signal) => {
    const spec = await open.readSpec();
    try {
      const capabilities = await engine.capabilities({ signal, ociRuntime: spec.ociRuntime });
      const plan = environmentPlan(spec, { engine: engine.name, capabilities });
      await open.provideImage({ image: spec.image, origin: spec.imageOrigin }, engine, { ...open, signal });
      const grant = await untilCancelled(network.grant(spec.network, caller.principal), signal);
      const variables = {
        HOME: temporaryFolder,
        LANG: "C.UTF-8",
        ...grant?.environment,
        ...spec.hostEnvironment,
        ...spec.environment,
      };
      const prepared = await prepareEnvironment(open, { spec, plan: plan.sandbox }, { ...caller, signal });
      return {
        spec,
        ownImages: prepared.images,
        engine,
        sandboxes,
        logger,
        grant,
        plan: { ...plan.sandbox, programEnvironment: variables, image: prepared.images.at(-1) ?? plan.sandbox.image },
        project: spec.project,
        diskBytes: spec.limits.diskBytes,
        ...projectParts(open, spec),
        watchRoot: environmentRootWatch(open),
        toolingAlerts: open.toolingAlerts,
        setuidAlerts: open.setuidAlerts,
        variables,
        warnings: [...plan.warnings, ...(grant?.warnings ?? []), ...prepared.warnings],
        monotonicMs,
        now,
      };
    } catch (error) {
      await spec.project?.place[Symbol.asyncDispose]();
      throw error;
    }
  });
}

/** Maximum names of changed files in a warning. */
const maxNames = 20;

interface PreparedEnvironment {
  /**
   * Each created from the one before; the environment starts from the last. None: it starts from the requested image.
   */
  readonly images: readonly string[];
  readonly warnings: readonly string[];
}

/**
 * Runs the commands that prepare an environment (SPEC MO2): `setup_commands` as root, with the project read-only, then
 * `install_commands` as the user of all its commands; both with only the package registries as their network.
 * @throws what `prepareImage` throws; no image is left then
 */
async function prepareEnvironment(
  open: OpenEnvironment,
  { spec, plan }: { readonly spec: EnvironmentSpec; readonly plan: SandboxPlan },
  caller: Caller,
): Promise<PreparedEnvironment> {
  const { setupCommands, installCommands } = spec;
  if (setupCommands.length + installCommands.length === 0) return { images: [], warnings: [] };
  const grant = await untilCancelled(open.network.grant(installingNetwork, caller.principal), caller.signal);
  const images: string[] = [];
  const prepare = async (phase: Phase): Promise<PreparedImage> => {
    const prepared = await prepareImage(preparationOf(open, spec, { ...phase, grant }), caller);
    if (prepared.image !== null) images.push(prepared.image);
    return prepared;
  };
  try {
    if (setupCommands.length > 0) {
      await prepare({
        field: "setup_commands",
        commands: setupCommands,
        plan: setupPlan(plan),
      });
    }
    if (installCommands.length === 0) return { images, warnings: [] };
    const installPlan = { ...plan, image: images.at(-1) ?? plan.image };
    const { tooling } = await prepare({ field: "install_commands", commands: installCommands, plan: installPlan });
    return { images, warnings: [...changedWarnings(tooling.changed), ...gapSentences(tooling.gaps)] };
  } catch (error) {
    for (const image of images.toReversed()) await open.engine.images.remove(image);
    throw error;
  }
}

type Phase = Pick<ImagePreparation, "field" | "commands" | "plan">;

function preparationOf(
  open: OpenEnvironment,
  spec: EnvironmentSpec,
  phase: Phase & { readonly grant: NetworkGrant | null },
): ImagePreparation {
  const isSetup = phase.field === "setup_commands";
  // The project is read-only for setup.
  const watched = isSetup ? { lookAtTooling: undefined, growth: null } : projectParts(open, spec);
  // They get no secrets.
  const redact = (text: string): string => text;
  return {
    ...open,
    ...phase,
    ...watched,
    watchRoot: environmentRootWatch(open),
    project: spec.project,
    diskBytes: spec.limits.diskBytes,
    environmentId: spec.id,
    environment: {
      HOME: isSetup ? "/root" : temporaryFolder,
      LANG: "C.UTF-8",
      ...phase.grant?.environment,
      ...(isSetup ? {} : spec.hostEnvironment),
      ...spec.environment,
    },
    timeoutMs: spec.limits.timeoutMs,
    traces: new ToolingTraces({
      look: watched.lookAtTooling,
      onEdge: async (worked) => watched.growth?.note(worked),
      redact,
      alerts: open.toolingAlerts,
    }),
    onProgress: open.onProgress,
    redact,
  };
}

function changedWarnings(files: readonly ChangedToolingFile[]): readonly string[] {
  if (files.length === 0) return [];
  const names = files.slice(0, maxNames).map(({ path, change }) => `${JSON.stringify(path)} (${change})`);
  const more = files.length > maxNames ? ` and ${files.length - maxNames} more` : "";
  return [
    `install_commands changed files that tools of the project's owner (git, editors, shells, agents) run by themselves: ${names.join(", ")}${more}. Look at them before such a tool is used in the project.`,
  ];
}

interface ImagePreparation extends Omit<EnvironmentContainerParts, "isBusy" | "onDenied"> {
  /** The field of the request that has the commands. */
  readonly field: "setup_commands" | "install_commands";
  readonly commands: readonly (readonly string[])[];
  readonly environmentId: string;
  /** The network that installing needs. */
  readonly grant: NetworkGrant | null;
  readonly environment: Readonly<Record<string, string>>;
  /** Time limit of each command. */
  readonly timeoutMs: number;
  /** Reports which files run by the project owner's tools the commands change. */
  readonly traces: ToolingTraces;
  readonly onProgress: (message: string) => void;
  readonly monotonicMs: () => number;
}

/** The result of the commands. */
interface PreparedImage {
  /** Image of the container's files; null if they could not write to any. */
  readonly image: string | null;
  /** What they and what they left running changed until their container was gone. */
  readonly tooling: ToolingReport;
}

/** Label of the image, with the environment's id. */
const imageLabel = "glovebox.environment";

/** How many characters of a failed command's output its error shows. */
const shownCharacters = 2_000;

/**
 * Runs the commands in a separate container, and creates an image from the result.
 * @throws PACKAGE_INSTALL_FAILED with the command and the end of its output, CANCELLED, what
 * `EnvironmentContainer.open` throws
 */
async function prepareImage(preparation: ImagePreparation, caller: Caller): Promise<PreparedImage> {
  const { plan, traces } = preparation;
  const container = await EnvironmentContainer.open(
    { ...preparation, isBusy: () => true, onDenied: () => undefined },
    caller,
  );
  let image: string | null = null;
  const reports: ToolingReport[] = [];
  try {
    reports.push(...(await runAll(preparation, container, caller)));
    await container.clearSetuidBits();
    if (plan.writableRoot !== undefined) {
      const labels = { [imageLabel]: preparation.environmentId };
      image = await container.sandbox.commit({ labels, lifetimeMs: plan.lifetimeMs }, { signal: caller.signal });
    }
  } finally {
    try {
      await container.remove();
    } finally {
      reports.push(await traces.close());
    }
  }
  return { image, tooling: joinReports(reports) };
}

async function runAll(
  preparation: ImagePreparation,
  container: EnvironmentContainer,
  caller: Caller,
): Promise<readonly ToolingReport[]> {
  const { field, commands, traces, onProgress } = preparation;
  const verb = field === "setup_commands" ? "Setup" : "Install";
  const reports: ToolingReport[] = [];
  for (const [index, command] of commands.entries()) {
    onProgress(`${verb} ${index + 1} of ${commands.length}: ${command.join(" ").slice(0, 120)}`);
    const trace = await traces.begin(index > 0);
    const { process, end } = await runOne(preparation, { container, command, caller });
    reports.push(await traces.end(trace, { process, sandbox: container.sandbox.id }));
    if (end.exitCode !== 0 || end.interruption !== null)
      throw commandFailed({ field, end, container, index, command, denials: await denialsOf(container) });
  }
  return reports;
}

async function runOne(
  { plan, environment, timeoutMs, monotonicMs }: ImagePreparation,
  run: { readonly container: EnvironmentContainer; readonly command: readonly string[]; readonly caller: Caller },
): Promise<{ readonly process: Process; readonly end: ProcessEnd<RingOutput> }> {
  const { container, command, caller } = run;
  const { workingDirectory } = plan;
  const process = await container.sandbox.exec(
    { command, environment: withPlainOutput(environment), workingDirectory },
    { signal: caller.signal },
  );
  const end = await watchCommand({
    process,
    sandbox: container.sandbox,
    // They get no secrets.
    redaction: new Redaction([]),
    timeoutMs,
    signal: caller.signal,
    // The whole container exists only for this.
    end: () => container.remove(),
    monotonicMs,
  });
  return { process, end };
}

async function denialsOf(container: EnvironmentContainer): Promise<readonly Denial[]> {
  const network = await container.ensureNetwork(undefined).catch(() => null);
  await network?.settle();
  return network?.denials ?? [];
}

function commandFailed(failed: {
  readonly field: ImagePreparation["field"];
  readonly end: ProcessEnd<RingOutput>;
  readonly container: EnvironmentContainer;
  readonly index: number;
  readonly command: readonly string[];
  readonly denials: readonly Denial[];
}): GloveboxError {
  const { end, container, index, command, denials } = failed;
  if (end.interruption === "cancel") return new GloveboxError("CANCELLED", "The request was cancelled.");
  const reasons = { timeout: "it ran out of time", lost: "its container went away" };
  const overDisk = container.overDisk === null ? null : "its files passed the disk limit";
  const why = overDisk ?? (end.interruption === null ? `exit code ${end.exitCode}` : reasons[end.interruption]);
  const words = `${end.stdout.text()}${end.stderr.text()}`.slice(-shownCharacters).trim();
  const field = `${failed.field}[${index}]`;
  const who = failed.field === "setup_commands" ? "root" : "the owner of the project";
  return new GloveboxError(
    "PACKAGE_INSTALL_FAILED",
    `${field} (${command.join(" ").slice(0, 120)}) failed: ${why}${afterRefusals(denials)}.${words === "" ? "" : `\n${words}`}`,
    {
      suggestion:
        denials[0]?.remedy ??
        `Correct the command; it runs as ${who}, with the package registries as its only network.`,
      context: { field, exit_code: end.exitCode, ...(denials.length === 0 ? {} : { denials }) },
    },
  );
}

/** How many files and folders a project, or a container's own root, may grow by (SPEC LI1). */
const maxFiles = 1_000_000;

type ProjectParts = Pick<EnvironmentParts, "lookAtTooling" | "lockTooling" | "growth">;

interface ProjectHost {
  readonly host: { readonly platform: NodeJS.Platform; readonly executable: string };
  readonly now: () => number;
}

/** Watches the files of an environment's own root. */
function environmentRootWatch({ host, now }: ProjectHost): (folder: string) => GrowthWatch {
  return rootWatch({ ...host, now }, maxFiles);
}

/** The watchers and guards of a project that commands may write to; a read-only one needs none. */
function projectParts({ host, now }: ProjectHost, spec: EnvironmentSpec): ProjectParts {
  const { project, toolingFiles, toolingPaths, limits } = spec;
  if (project === null || project.readOnly) return { lookAtTooling: undefined, lockTooling: undefined, growth: null };
  const looked = { place: project.place, platform: host.platform, morePaths: toolingPaths };
  return {
    lookAtTooling: () => lookAtTooling(looked),
    lockTooling: toolingFiles === "named" ? undefined : () => lockTooling(looked, projectFolder),
    growth: new GrowthWatch({
      ...host,
      place: project.place,
      limits: { bytes: limits.diskBytes, files: maxFiles },
      now,
    }),
  };
}

/** What an environment is created from. */
export interface OpenEnvironment extends ImageListener, Pick<Kit, "logger" | "now" | "monotonicMs"> {
  readonly id: string;
  /** Its caller's own word for it; undefined: none. */
  readonly name?: string | undefined;
  readonly engine: Engine;
  /** Opens the project, and checks everything that might be refused. */
  readonly readSpec: () => Promise<EnvironmentSpec>;
  readonly environments: Environments;
  readonly sandboxes: Sandboxes;
  readonly setuidAlerts: AlertSink<ClearedFiles>;
  readonly network: Pick<NetworkAccess, "grant">;
  readonly host: { readonly platform: NodeJS.Platform; readonly executable: string };
  readonly toolingAlerts: AlertSink<ToolingReport>;
  readonly provideImage: ProvideImage;
  readonly onProgress: (message: string) => void;
}
