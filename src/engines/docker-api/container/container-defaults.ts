import { mebibyte } from "../../../base/bytes.ts";
import { defaultOpenFiles, type ContainerSpec } from "../../container-spec.ts";

const defaultSharedMemoryBytes = 64 * mebibyte;

/** Open files that each process may have. */
export function openFilesOf({ limits }: ContainerSpec): number {
  return limits.openFiles ?? defaultOpenFiles;
}

/** Size of /dev/shm. */
export function sharedMemoryBytesOf({ sharedMemoryBytes, limits }: ContainerSpec): number {
  return sharedMemoryBytes ?? Math.min(defaultSharedMemoryBytes, Math.floor(limits.memoryBytes / 8));
}
