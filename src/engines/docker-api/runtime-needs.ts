import type { RuntimeKind } from "./oci-runtime.ts";

/** Folders that a runtime would make writable by itself, without a size limit, where nothing is mounted. */
export const ownFolders: Readonly<Record<RuntimeKind, readonly string[]>> = {
  namespaces: [],
  gvisor: ["/tmp"],
  vm: [],
};

/**
 * Processes that gVisor allows each user inside: a program that the supervisor starts is counted for the supervisor, whose child it
 * was, and not for its own user.
 */
export function processesOfUser(pids: number): number {
  return Math.max(1, pids - 1);
}

/** The supervisor, the helper that waits for a file operation, and the warden of one program; others' wardens are theirs. */
const ownProcesses = 3;

/**
 * Threads of the host's that a container with a limit of `pids` may take. gVisor was seen to take 38 for itself and 5
 * for each process inside (2022, ptrace); short of them its kernel falls, so this is no more than a fence.
 */
export function hostProcesses(pids: number, runtimeKind: RuntimeKind): number {
  return runtimeKind === "gvisor" ? 512 + 16 * pids : pids + ownProcesses;
}
