import { containerPath, type ContainerLink } from "./container-link.ts";

/** A container's end, still to come. */
export interface ExitListener {
  /** Resolves at the end, or when the connection breaks: look at the state afterwards. */
  readonly heard: Promise<void>;
}

/**
 * Starts to listen for the container's next end; resolves when the engine is listening, with null when the container is
 * gone.
 */
export async function listenForExit(
  link: Pick<ContainerLink, "id" | "api">,
  signal: AbortSignal,
): Promise<ExitListener | null> {
  const request = {
    method: "POST",
    path: containerPath(link, "wait"),
    query: { condition: "next-exit" },
    signal,
  } as const;
  const answer = await link.api.stream("wait for the container", request, [404]);
  return "chunks" in answer ? { heard: untilEnd(answer.chunks) } : null;
}

async function untilEnd(chunks: AsyncIterable<Uint8Array>): Promise<void> {
  try {
    for await (const _ of chunks) {
      // Only the end counts.
    }
  } catch {
    // A broken connection says nothing about the container; whoever waits looks at its state.
  }
}
