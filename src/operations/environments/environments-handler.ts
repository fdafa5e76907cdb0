import { shortenTooling } from "../../policy/tooling/tooling-changes.ts";
import { projectFolder } from "../../workloads/environment/environment-spec.ts";
import { toolingWarnings } from "../../workloads/run/explain-tooling.ts";
import { hasLabels } from "../contract/labels-schema.ts";
import { handle } from "../handling/handler.ts";
import { destroyEnvironmentContract, listEnvironmentsContract } from "./environments-contract.ts";
import { maxToolingFiles } from "./tooling-schema.ts";

/** `list_environments`: the caller's own. */
export const listEnvironmentsHandler = handle(listEnvironmentsContract, async ({ environments }, { label }, call) => {
  const all = await environments.list(call.principal);
  const own = all.filter(({ spec }) => hasLabels(spec.labels, label));
  return {
    environments: await Promise.all(
      own.map(async (environment) => {
        const home = await environment.currentIds().catch(() => null);
        return {
          env_id: environment.spec.id,
          name: environment.spec.name ?? null,
          container_id: home?.containerId ?? null,
          mount_path: projectFolder,
          image: environment.spec.image,
          engine: environment.engineName,
          labels: { ...environment.spec.labels },
          created_at: new Date(environment.createdAtMs).toISOString(),
          read_only: environment.spec.project?.readOnly ?? false,
          running_commands: environment.commandCount,
          running_processes: environment.processes.running.length,
        };
      }),
    ),
  };
});

/** `destroy_environment`: ends what runs in it and removes its container. */
export const destroyEnvironmentHandler = handle(
  destroyEnvironmentContract,
  async ({ environments }, { env_id: id }, { principal }) => {
    const report = await environments.destroy(id, principal);
    return {
      env_id: id,
      destroyed: true as const,
      tooling_files: [...shortenTooling(report.changed, maxToolingFiles)],
      warnings: [...toolingWarnings(report)],
    };
  },
);
