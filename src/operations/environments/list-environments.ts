import type { Platform } from "../../platform/platform.ts";
import { projectFolder } from "../../workloads/environment/environment-spec.ts";
import type { Operation, OperationCall } from "../operation.ts";
import {
  listEnvironmentsRequestSchema,
  listEnvironmentsResponseSchema,
  type ListEnvironmentsResponse,
} from "./schema.ts";

/** `list_environments`: the caller's own. */
export const listEnvironmentsOperation: Operation<
  typeof listEnvironmentsRequestSchema,
  typeof listEnvironmentsResponseSchema,
  Platform
> = {
  name: "list_environments",
  description: "Lists your environments, with what runs in them.",
  request: listEnvironmentsRequestSchema,
  response: listEnvironmentsResponseSchema,
  run,
};

async function run({ environments }: Platform, _: unknown, call: OperationCall): Promise<ListEnvironmentsResponse> {
  const own = await environments.list(call.principal);
  return {
    environments: await Promise.all(
      own.map(async (environment) => {
        const home = await environment.home().catch(() => null);
        return {
          env_id: environment.spec.id,
          container_id: home?.containerId ?? null,
          mount_path: projectFolder,
          image: environment.spec.image,
          engine: environment.engineName,
          created_at: new Date(environment.createdAtMs).toISOString(),
          read_only: environment.spec.project?.readOnly ?? false,
          running_commands: environment.commandCount,
          running_processes: environment.processes.running.length,
        };
      }),
    ),
  };
}
