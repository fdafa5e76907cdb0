import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../../base/logger.ts";
import { GrowthWatch, type GrowthWatchOptions } from "../../sandbox/growth-watch.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";

/** Time between two looks while something runs (SPEC RT6), and while nothing is known to. */
const everyMs = { busy: 1_000, idle: 5_000 };

interface DiskWatch {
  readonly sandbox: Pick<Sandbox, "id" | "writtenBytes" | "writtenFolder">;
  readonly limitBytes: number;
  /** Null: nothing can be written to the project. */
  readonly growth: Pick<GrowthWatch, "look" | "limits"> | null;
  /** Watches a folder, whose files alone count here: what the root has of them, where that can be looked at. */
  readonly watchRoot: (folder: string) => GrowthWatch;
  readonly isBusy: () => boolean;
  readonly onExceeded: (excess: DiskExcess) => void;
  readonly logger: Logger;
  /** Ends the watch. */
  readonly signal: AbortSignal;
}

/** How far the files of a sandbox went. */
export interface DiskExcess {
  readonly what: "bytes" | "files";
  readonly value: number;
  readonly limit: number;
  /** What the project has grown by, of `value`. */
  readonly inProject: number;
}

/** Measures what a sandbox's programs have written to its root and to its project until it is more than the limit. */
export async function watchDisk(watch: DiskWatch): Promise<void> {
  const { sandbox, isBusy, onExceeded, logger, signal } = watch;
  let written = 0;
  let root: GrowthWatch | null | undefined;
  while (!signal.aborted) {
    try {
      const before = written;
      written = (await sandbox.writtenBytes({ signal })) ?? 0;
      if (root === undefined) root = await openRoot(watch);
      const freed = Math.max(0, before - written);
      const excess = (await lookForExcess(watch, { written, freed })) ?? (await lookForFiles(watch, root));
      if (excess !== null && !signal.aborted) return onExceeded(excess);
    } catch (error) {
      // It may have disappeared meanwhile; the next command in it finds out.
      if (!signal.aborted) logger.debug({ sandbox: sandbox.id, err: error }, "the disk was not measured");
    }
    await sleep(isBusy() ? everyMs.busy : everyMs.idle, undefined, { signal, ref: false }).catch(() => undefined);
  }
}

/**
 * Watches the folder of what a container's programs have written to its root, which was empty at first, for more files and
 * folders than a number; its bytes are known otherwise.
 */
export function rootWatch(
  { executable, platform, now }: Pick<GrowthWatchOptions, "executable" | "platform" | "now">,
  files: number,
): (folder: string) => GrowthWatch {
  const limits = { bytes: Number.POSITIVE_INFINITY, files };
  return (folder) => {
    const place = { stablePath: folder, realPath: folder };
    return new GrowthWatch({ place, limits, startsEmpty: true, executable, platform, now });
  };
}

async function lookForExcess(
  { growth, limitBytes, isBusy, signal }: DiskWatch,
  { written, freed }: { readonly written: number; readonly freed: number },
): Promise<DiskExcess | null> {
  if (written > limitBytes) return { what: "bytes", value: written, limit: limitBytes, inProject: 0 };
  if (growth === null) return null;
  const { bytes, files, grows } = await growth.look(isBusy(), { freed, signal });
  const total = written + bytes;
  // A project that is already beyond the limit does not end commands that only read it, or clean up.
  const isOver = total > limitBytes && (grows || bytes <= limitBytes);
  if (isOver) return { what: "bytes", value: total, limit: limitBytes, inProject: bytes };
  const { files: limit } = growth.limits;
  return grows && files > limit ? { what: "files", value: files, limit, inProject: files } : null;
}

async function openRoot({ sandbox, watchRoot, signal }: DiskWatch): Promise<GrowthWatch | null> {
  const folder = await sandbox.writtenFolder({ signal });
  const root = folder === null ? null : watchRoot(folder);
  await root?.note(false);
  return root;
}

/** Empty files and folders take inodes of the host's and no bytes that the engine counts. */
async function lookForFiles({ isBusy, signal }: DiskWatch, root: GrowthWatch | null): Promise<DiskExcess | null> {
  if (root === null) return null;
  const { files, grows } = await root.look(isBusy(), { freed: 0, signal });
  const { files: limit } = root.limits;
  return grows && files > limit ? { what: "files", value: files, limit, inProject: 0 } : null;
}
