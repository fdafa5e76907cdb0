import { mebibyte } from "../../../base/bytes.ts";
import type { ContainerSpec } from "../../container-spec.ts";

/** Open files per process: what an engine without the right to raise limits was seen to give. */
const defaultOpenFiles = 16_384;

const defaultSharedMemoryBytes = 64 * mebibyte;

/** Open files that each process may have. */
export function openFilesOf({ limits }: ContainerSpec): number {
  return limits.openFiles ?? defaultOpenFiles;
}

/** Size of /dev/shm. */
export function sharedMemoryBytesOf({ sharedMemoryBytes, limits }: ContainerSpec): number {
  return sharedMemoryBytes ?? Math.min(defaultSharedMemoryBytes, Math.floor(limits.memoryBytes / 8));
}
