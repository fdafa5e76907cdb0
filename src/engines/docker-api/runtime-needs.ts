import type { RuntimeKind } from "./oci-runtime.ts";

/** Folders that a runtime would make writable by itself, without a size limit, where nothing is mounted. */
export const ownFolders: Readonly<Record<RuntimeKind, readonly string[]>> = {
  namespaces: [],
  gvisor: ["/tmp"],
  vm: [],
};

/**
 * Threads of the host's that a container with a limit of `pids` may take. gVisor was seen to take 38 for itself and 5
 * for each process inside (2022, ptrace); short of them its kernel falls, so this is no more than a fence.
 */
export function hostProcesses(pids: number, runtimeKind: RuntimeKind): number {
  return runtimeKind === "gvisor" ? 512 + 16 * pids : pids;
}
