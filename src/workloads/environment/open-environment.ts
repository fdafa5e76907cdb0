import { untilCancelled } from "../../base/abort.ts";
import { temporaryFolder } from "../../policy/scratch.ts";
import type { Caller } from "../../sandbox/sandboxes.ts";
import type { Environment } from "./environment.ts";
import { environmentPlan } from "./environment-plan.ts";
import type { OpenEnvironment } from "./environment-request.ts";
import { prepareEnvironment } from "./prepare/prepare-environment.ts";
import { environmentRootWatch, projectParts } from "./project/project-parts.ts";

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
