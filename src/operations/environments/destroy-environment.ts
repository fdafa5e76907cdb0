import type { z } from "zod";
import type { Platform } from "../../platform/platform.ts";
import type { Operation, OperationCall } from "../operation.ts";
import {
  destroyEnvironmentRequestSchema,
  destroyEnvironmentResponseSchema,
  type DestroyEnvironmentResponse,
} from "./schema.ts";

type Request = z.output<typeof destroyEnvironmentRequestSchema>;

/** `destroy_environment`: ends what runs in it and removes its container. */
export const destroyEnvironmentOperation: Operation<
  typeof destroyEnvironmentRequestSchema,
  typeof destroyEnvironmentResponseSchema,
  Platform
> = {
  name: "destroy_environment",
  description:
    "Ends everything that runs in an environment and removes its container; the project's folder stays as it is.",
  request: destroyEnvironmentRequestSchema,
  response: destroyEnvironmentResponseSchema,
  run,
};

async function run(
  { environments }: Platform,
  { env_id: id }: Request,
  call: OperationCall,
): Promise<DestroyEnvironmentResponse> {
  await environments.destroy(id, call.principal);
  return { env_id: id, destroyed: true };
}
