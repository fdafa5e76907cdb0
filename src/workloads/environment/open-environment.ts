import { untilCancelled } from "../../base/abort.ts";
import type { Logger } from "../../base/logger.ts";
import type { NetworkAccess } from "../../egress/network-access.ts";
import type { Engine, PullProgress } from "../../engines/engine.ts";
import { temporaryFolder } from "../../policy/scratch.ts";
import type { ToolingListener } from "./project/tooling-traces.ts";
import type { Caller, Sandboxes } from "../../sandbox/sandboxes.ts";
import type { Environment } from "./environment.ts";
import { environmentPlan } from "./environment-plan.ts";
import type { EnvironmentSpec } from "./environment-spec.ts";
import type { SetuidListener } from "./container/environment-container.ts";
import type { Environments } from "./environments.ts";
import { prepareEnvironment } from "./prepare/prepare-environment.ts";
import { projectParts, rootWatch } from "./project/project-parts.ts";

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
        watchRoot: rootWatch(open),
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

async function ensureImage(image: string, { engine, onPull }: OpenEnvironment, signal: AbortSignal): Promise<void> {
  if (await engine.images.has(image, { signal })) return;
  await engine.images.pull(image, { signal, onProgress: (progress) => onPull(image, progress) });
}
