import { mebibyte } from "../../base/bytes.ts";

/** File of a group of version 1 with the limit of its sockets' buffers, which version 2 counts with the rest. */
export const socketLimitFile = "memory.kmem.tcp.limit_in_bytes";

/**
 * What the buffers of all TCP and UDP sockets of a container may take: a quarter of its memory, as they come on top of
 * it, and at most 64 MiB, far more than servers and their clients on one loopback have in flight. Who would send more
 * waits.
 */
export function socketBytes(memoryBytes: number): number {
  return Math.min(64 * mebibyte, Math.floor(memoryBytes / 4));
}
