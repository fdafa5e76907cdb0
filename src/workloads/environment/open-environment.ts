import { untilCancelled } from "../../base/abort.ts";
import type { Logger } from "../../base/logger.ts";
import type { NetworkAccess } from "../../egress/network-access.ts";
import type { MountSpec } from "../../engines/container-spec.ts";
import type { Engine, PullProgress } from "../../engines/engine.ts";
import { temporaryFolder } from "../../policy/scratch.ts";
import type { ToolingListener } from "./tooling-traces.ts";
import type { Caller, Sandboxes } from "../../sandbox/sandboxes.ts";
import { GrowthWatch } from "../../sandbox/growth/growth-watch.ts";
import { lockTooling } from "../../sandbox/tooling/lock-tooling.ts";
import { lookAtTooling, type ToolingLook } from "../../sandbox/tooling/look-at-tooling.ts";
import type { Environment } from "./environment.ts";
import { environmentPlan, setupPlan, type EnvironmentPlan } from "./environment-plan.ts";
import { projectFolder, type EnvironmentSpec } from "./environment-spec.ts";
import type { SetuidListener } from "./housing.ts";
import { prepareImage } from "./prepare-image.ts";
import type { Environments } from "./environments.ts";

/** Files and folders that a project may grow by (SPEC LI1). */
const maxFiles = 1_000_000;

export interface OpenEnvironment {
  readonly id: string;
  readonly engine: Engine;
  /** Opens the project, and checks everything that could be refused. */
  readonly readSpec: () => Promise<EnvironmentSpec>;
  readonly environments: Environments;
  readonly sandboxes: Sandboxes;
  readonly setuidAlerts: SetuidListener;
  readonly network: Pick<NetworkAccess, "grant">;
  readonly logger: Logger;
  readonly host: { readonly platform: NodeJS.Platform; readonly executable: string };
  readonly toolingAlerts: ToolingListener;
  readonly onPull: (image: string, progress: PullProgress) => void;
  readonly onSetup: (message: string) => void;
  readonly monotonicMs: () => number;
  readonly now: () => number;
}

/**
 * Makes an environment; whatever goes wrong, nothing is left behind and its id is free (SPEC EV1).
 * @throws ALREADY_EXISTS, UNSUPPORTED, IMAGE_UNAVAILABLE, ENGINE_UNAVAILABLE, CAPACITY, CANCELLED, what `readSpec` throws
 */
export function openEnvironment(open: OpenEnvironment, caller: Caller): Promise<Environment> {
  const { engine, environments, sandboxes, network, logger, monotonicMs, now } = open;
  return environments.create(open.id, caller, async (signal) => {
    const spec = await open.readSpec();
    try {
      const capabilities = await engine.capabilities({ signal, ociRuntime: spec.ociRuntime });
      const plan = environmentPlan(spec, { engine: engine.name, capabilities });
      await ensureImage(spec.image, open, signal);
      const grant = await untilCancelled(network.grant(spec.network, caller.principal), signal);
      const image = await prepared(spec, plan, open, { ...caller, signal });
      const variables = {
        HOME: temporaryFolder,
        LANG: "C.UTF-8",
        ...grant?.environment,
        ...spec.hostEnvironment,
        ...spec.environment,
      };
      const sandbox = { ...plan.sandbox, programEnvironment: variables };
      return {
        spec,
        ownImage: image,
        engine,
        sandboxes,
        logger,
        grant,
        plan: image === null ? sandbox : { ...sandbox, image },
        project: spec.project,
        diskBytes: spec.limits.diskBytes,
        lookAtTooling: toolingOf(spec, open.host.platform),
        lockTooling: locksOf(spec, open.host.platform),
        growth: growthOf(spec, open),
        toolingAlerts: open.toolingAlerts,
        setuidAlerts: open.setuidAlerts,
        variables,
        warnings: [...plan.warnings, ...(grant?.warnings ?? [])],
        monotonicMs,
        now,
      };
    } catch (error) {
      await spec.project?.place[Symbol.asyncDispose]();
      throw error;
    }
  });
}

/** Nothing can change in a project that is read-only. */
function toolingOf(
  { project, toolingPaths }: EnvironmentSpec,
  platform: NodeJS.Platform,
): (() => Promise<ToolingLook | null>) | undefined {
  if (project === null || project.readOnly) return undefined;
  return () => lookAtTooling({ place: project.place, platform, morePaths: toolingPaths });
}

function locksOf(
  { project, toolingFiles, toolingPaths }: EnvironmentSpec,
  platform: NodeJS.Platform,
): (() => Promise<readonly MountSpec[]>) | undefined {
  if (project === null || project.readOnly || toolingFiles === "named") return undefined;
  return () => lockTooling({ place: project.place, platform, morePaths: toolingPaths }, projectFolder);
}

function growthOf({ project, limits }: EnvironmentSpec, { host, now }: OpenEnvironment): GrowthWatch | null {
  if (project === null || project.readOnly) return null;
  return new GrowthWatch({ ...host, place: project.place, limits: { bytes: limits.diskBytes, files: maxFiles }, now });
}

/** The image that the setup commands make; null without any. */
async function prepared(
  spec: EnvironmentSpec,
  plan: EnvironmentPlan,
  open: OpenEnvironment,
  caller: Caller,
): Promise<string | null> {
  if (spec.setupCommands.length === 0) return null;
  const grant = await untilCancelled(open.network.grant({ kind: "registries" }, caller.principal), caller.signal);
  return prepareImage(
    {
      ...open,
      plan: setupPlan(plan),
      project: spec.project,
      diskBytes: spec.limits.diskBytes,
      grant,
      environmentId: spec.id,
      commands: spec.setupCommands,
      environment: { HOME: "/root", LANG: "C.UTF-8", ...grant?.environment, ...spec.environment },
      timeoutMs: spec.limits.timeoutMs,
      onProgress: open.onSetup,
      // It is given no secret.
      redact: (text) => text,
    },
    caller,
  );
}

async function ensureImage(image: string, { engine, onPull }: OpenEnvironment, signal: AbortSignal): Promise<void> {
  if (await engine.images.has(image, { signal })) return;
  await engine.images.pull(image, { signal, onProgress: (progress) => onPull(image, progress) });
}
