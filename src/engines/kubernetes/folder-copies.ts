import { gibibyte } from "../../base/bytes.ts";
import { tarOfFolder } from "../../base/tar/tar-folder.ts";
import type { MountSpec } from "../container-spec.ts";
import type { CallOptions } from "../engine.ts";
import { SupervisorChannel } from "../supervised/channel/channel.ts";
import type { SupervisorTerms } from "../supervised/channel/hello.ts";
import { lostError } from "../supervised/container/container-errors.ts";
import { FolderFiles } from "../supervised/files/folder-files.ts";
import type { KubernetesApi } from "./api.ts";
import { attachPod, type AttachTarget } from "./attach-pod.ts";
import { AttachStream } from "./attach-stream.ts";
import { engineTitle } from "./kubernetes-errors.ts";
import { copiedFolder, foldersContainer } from "./pod-manifest.ts";

/** Of one folder, such as all packages of a run. */
const limits = { deadlineMs: 1_800_000, maxEntries: 1_000_000, maxBytes: 64 * gibibyte };

export interface FolderCopies {
  readonly folders: readonly MountSpec[];
  readonly terms: SupervisorTerms;
  readonly epoch: number;
}

/**
 * Fills the folders that a pod is given copies of. They are written by a container of the pod that has them writable and runs nothing
 * but a supervisor; it ends here, before anything runs in the sandbox, which has them read-only.
 */
export async function copyFolders(
  api: KubernetesApi,
  { folders, terms, epoch }: FolderCopies,
  sandbox: AttachTarget,
  { signal }: CallOptions,
): Promise<void> {
  const target = { ...sandbox, container: foldersContainer };
  await withSupervisor(api, { target, terms, epoch }, { signal }, async (channel) => {
    for (const [index, { source }] of folders.entries()) {
      const files = new FolderFiles(() => channel, { folder: copiedFolder(index), ...terms.programs });
      await files.unpack("", tarOfFolder(source), { ...limits, signal });
    }
  });
}

export interface SupervisorPlace {
  readonly target: AttachTarget;
  readonly terms: SupervisorTerms;
  readonly epoch: number;
}

/** Talks to a supervisor whose container no program runs in; it ends with the work. */
export async function withSupervisor<T>(
  api: KubernetesApi,
  { target, terms, epoch }: SupervisorPlace,
  { signal }: CallOptions,
  work: (channel: SupervisorChannel) => Promise<T>,
): Promise<T> {
  const stream = new AttachStream();
  const channel = new SupervisorChannel({
    ...{ transport: stream, terms, epoch },
    explain: () => Promise.resolve({ error: lostError(engineTitle), isGone: true }),
  });
  try {
    await attachPod(api, target, stream, { signal });
    await channel.hello();
    return await work(channel);
  } finally {
    // The end of its stream is its own.
    await channel.close();
  }
}
