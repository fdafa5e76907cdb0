import type { Duplex } from "node:stream";
import type { ApiAnswer } from "../http/api-request.ts";
import { containerPath, type ContainerLink } from "./container-link.ts";

/** Opens the streams of the first process before its start; the engine's answer when it refuses. */
export async function openAttached(
  link: Pick<ContainerLink, "id" | "api">,
  signal: AbortSignal | undefined,
): Promise<Duplex | ApiAnswer> {
  const request = {
    method: "POST",
    path: containerPath(link, "attach"),
    // Podman would take the bytes of its detach keys out of the stream, without a terminal too.
    query: { stream: "1", stdin: "1", stdout: "1", stderr: "1", detachKeys: "" },
    signal,
  } as const;
  // Podman prepares the container now, so it may find here that its program does not exist.
  const opened = await link.api.open("attach to the container", request, [400, 404, 409, 500]);
  return "socket" in opened ? opened.socket : opened;
}
