import { formatBytes, mebibyte } from "../base/bytes.ts";
import type { Limits } from "./limits.ts";

/**
 * Where an engine keeps scratch: sized on disk, sized in memory (its bytes count as memory), there as far as half of the
 * memory limit goes and else on disk, or without a size.
 */
export type ScratchStorage = "disk" | "memory" | "memoryOrDisk" | "none";

/** One writable place of a sandbox. */
export interface ScratchPlace {
  /** Absolute path inside. */
  readonly path: string;
  readonly sizeBytes: number;
}

/** The limits that scratch is made of. */
type ScratchLimits = Pick<Limits, "diskBytes" | "memoryBytes" | "isDiskRequested">;

/** How a sandbox's scratch space is shared out. */
export interface ScratchDivision {
  readonly places: readonly ScratchPlace[];
  /** Size of /dev/shm, which is memory on every engine. */
  readonly sharedMemoryBytes: number;
  /** One sentence when scratch is not what the disk limit says, else null. */
  readonly difference: string | null;
  /** The same for the result: only if the request named the disk limit (SPEC LI1), else null. */
  readonly note: string | null;
}

/** Working folder of programs. */
export const workFolder = "/work";
export const temporaryFolder = "/tmp";

const pageBytes = 4096;

/**
 * Shares out the disk limit: a quarter for /tmp, the rest for the work folder; /dev/shm gets up to 64 MiB.
 *
 * In memory the three together take exactly the disk limit or half the memory limit, the smaller, so that full scratch
 * leaves the program the other half. On disk, /dev/shm comes on top, from an eighth of the memory limit.
 */
export function divideScratch(limits: ScratchLimits, kept: ScratchStorage): ScratchDivision {
  const halfMemory = Math.floor(limits.memoryBytes / 2);
  const storage = kept === "memoryOrDisk" ? (limits.diskBytes <= halfMemory ? "memory" : "disk") : kept;
  const inMemory = storage === "memory";
  const total = inMemory ? Math.min(limits.diskBytes, halfMemory) : limits.diskBytes;
  const sharedMemoryBytes = wholePages(Math.min(64 * mebibyte, (inMemory ? total : limits.memoryBytes) / 8));
  const temporaryBytes = wholePages(total / 4);
  const workBytes = total - temporaryBytes - (inMemory ? sharedMemoryBytes : 0);
  return {
    places: [
      { path: workFolder, sizeBytes: workBytes },
      { path: temporaryFolder, sizeBytes: temporaryBytes },
    ],
    sharedMemoryBytes,
    ...differenceFor(limits, scratchNote(limits.diskBytes, total, storage)),
  };
}

/**
 * Scratch that is none of the engine's: folders of this machine's disk, mounted, whose watch ends a sandbox that writes more
 * than the disk limit; /dev/shm as on disk.
 */
export function watchedScratch(limits: ScratchLimits): ScratchDivision {
  const note = `scratch: on disk, ${formatBytes(limits.diskBytes)}; a watch that measures it each second ends the sandbox beyond that`;
  return { ...divideScratch(limits, "disk"), places: [], ...differenceFor(limits, note) };
}

function differenceFor(
  { isDiskRequested }: ScratchLimits,
  difference: string | null,
): Pick<ScratchDivision, "difference" | "note"> {
  return { difference, note: isDiskRequested === true ? difference : null };
}

function scratchNote(diskBytes: number, total: number, storage: "disk" | "memory" | "none"): string | null {
  if (storage === "disk" || (total === diskBytes && storage === "memory")) return null;
  if (storage === "none") return `scratch: on disk without a size limit, ${formatBytes(diskBytes)} is not enforced`;
  return `scratch: memory-backed, ${formatBytes(total)} (half the memory limit) instead of ${formatBytes(diskBytes)} on disk`;
}

function wholePages(bytes: number): number {
  return Math.floor(bytes / pageBytes) * pageBytes;
}
