import type { Duplex } from "node:stream";
import type { OutputChunk } from "../../engine.ts";
import type { KeeperStream } from "../../inside/keeper.ts";
import { createDemuxer } from "../exec/demuxer.ts";
import type { ApiAnswer } from "../http/api-request.ts";
import { containerPath, type ContainerLink } from "./container-link.ts";

/** Opens the streams of the main process, before or after its start; the engine's answer when it refuses. */
export async function openAttached(
  link: Pick<ContainerLink, "id" | "api">,
  signal: AbortSignal | undefined,
): Promise<Duplex | ApiAnswer> {
  const request = {
    method: "POST",
    path: containerPath(link, "attach"),
    query: { stream: "1", stdin: "1", stdout: "1", stderr: "1" },
    signal,
  } as const;
  // Podman prepares the container now, so it may find here that its program does not exist.
  const opened = await link.api.open("attach to the container", request, [400, 404, 409, 500]);
  return "socket" in opened ? opened.socket : opened;
}

/** The streams of a keeper that is the main process. */
export function keeperStream(socket: Duplex): KeeperStream {
  return { stdin: socket, output: demuxed(socket), close: () => void socket.destroy() };
}

async function* demuxed(socket: Duplex): AsyncGenerator<OutputChunk, void, undefined> {
  const demux = createDemuxer();
  for await (const bytes of socket) yield* demux(bytes as Buffer);
}
