import type { CallOptions, ContainerState } from "../../engine.ts";
import { containerPath, type ContainerLink } from "./container-link.ts";
import { containerState, type InspectAnswer } from "./container-state.ts";

/** The container's state; null when the engine does not know it (any more). */
export async function inspectContainer(
  link: Pick<ContainerLink, "id" | "api">,
  { signal }: CallOptions = {},
): Promise<ContainerState | null> {
  const request = { method: "GET", path: containerPath(link, "json"), signal } as const;
  const { status, body } = await link.api.call("inspect the container", request, [404]);
  return status === 404 ? null : containerState(body as InspectAnswer);
}
