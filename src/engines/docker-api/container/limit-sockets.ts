import { writeFile } from "node:fs/promises";
import { socketBytes, socketLimitFile } from "../../cgroups/socket-limit.ts";
import { groupOf, ownPlaces } from "./group-stats.ts";

export interface LimitedContainer {
  readonly id: string;
  readonly memoryBytes: number;
  /** Asks for the number of its first process, on the machine of the engine, which may be another. */
  readonly processId: () => Promise<number>;
}

/**
 * Limits the buffers of a container's TCP and UDP sockets where the kernel counts them apart from its memory (control
 * groups version 1): runtimes set no such limit. Only root on the engine's own machine can; for others it stays as it is.
 *
 * The kernel counts sockets that are made after that, so nothing else may run in the container yet.
 */
export async function limitSockets({ id, memoryBytes, processId }: LimitedContainer): Promise<void> {
  const { version1 } = await ownPlaces();
  if (version1.memory === undefined) return;
  const found = await groupOf({ id, processId: await processId() });
  const memory = found?.places.get("memory");
  if (found === null || memory?.version !== 1) return;
  await writeFile(`${memory.folder}${found.name}/${socketLimitFile}`, String(socketBytes(memoryBytes))).catch(
    () => undefined,
  );
}
