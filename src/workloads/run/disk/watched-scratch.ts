import { formatBytes } from "../../../base/bytes.ts";
import type { Logger } from "../../../base/logger.ts";
import type { MountSpec } from "../../../engines/container-spec.ts";
import { GloveboxError } from "../../../errors/glovebox-error.ts";
import { GrowthWatch } from "../../../sandbox/growth/growth-watch.ts";
import type { Sandbox } from "../../../sandbox/sandbox.ts";
import type { DiskScratch, ScratchFolder } from "../../../sandbox/scratch/disk-scratch.ts";
import { watchDisk, type DiskExcess } from "./watch-disk.ts";

export interface WatchedScratchOptions {
  readonly diskScratch: Pick<DiskScratch, "make">;
  /** Of all that is written there. */
  readonly diskBytes: number;
  readonly logger: Logger;
  /** As in `process.platform`. */
  readonly platform: NodeJS.Platform;
  /** Node's executable, which walks through the folders. */
  readonly executable: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Files, folders and links: those of a project's copy, and as many more (SPEC LI1). */
const maxFiles = 200_000;

/** Scratch of one sandbox on this machine's disk, and the watch that keeps it within its limit (SPEC RT6). */
export class WatchedScratch implements AsyncDisposable {
  readonly #options: WatchedScratchOptions;
  readonly #scratch: ScratchFolder;
  readonly #growth: GrowthWatch;
  readonly #ended = new AbortController();
  #excess: DiskExcess | null = null;

  /** @throws what `DiskScratch.make` throws */
  static async open(options: WatchedScratchOptions): Promise<WatchedScratch> {
    const scratch = await options.diskScratch.make();
    const { folder } = scratch;
    const growth = new GrowthWatch({
      ...options,
      place: { stablePath: folder, realPath: folder },
      limits: { bytes: options.diskBytes, files: maxFiles },
    });
    await growth.note(false);
    return new WatchedScratch(options, scratch, growth);
  }

  private constructor(options: WatchedScratchOptions, scratch: ScratchFolder, growth: GrowthWatch) {
    this.#options = options;
    this.#scratch = scratch;
    this.#growth = growth;
  }

  /** For the sandbox's plan. */
  get mounts(): readonly MountSpec[] {
    return this.#scratch.mounts;
  }

  /** Why the sandbox was ended; null when it was not, for its files. */
  get error(): GloveboxError | null {
    return this.#excess === null ? null : tooMuch(this.#excess);
  }

  /** From now on the sandbox is removed when it has written more than it may. */
  watch(sandbox: Sandbox): void {
    const { diskBytes, logger } = this.#options;
    void watchDisk({
      sandbox,
      limitBytes: diskBytes,
      growth: this.#growth,
      // Its root is read-only.
      watchRoot: () => this.#growth,
      isBusy: () => true,
      logger,
      signal: this.#ended.signal,
      onExceeded: (excess) => {
        this.#excess = excess;
        logger.warn({ sandbox: sandbox.id, ...excess }, "sandbox ended: its files passed their limit");
        sandbox.remove().catch(() => {
          // In the log already; the sandbox counts as removed, and a sweep tries again.
        });
      },
    });
  }

  /** Removes the files; to be called when the sandbox is gone. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#ended.abort();
    try {
      await this.#scratch[Symbol.asyncDispose]();
    } catch (error) {
      // What cannot be removed now is removed with this server's end.
      this.#options.logger.warn({ err: error }, "scratch was not removed");
    }
  }
}

function tooMuch({ what, value, limit }: DiskExcess): GloveboxError {
  const [taken, most] = what === "bytes" ? [formatBytes(value), formatBytes(limit)] : [`${value} files`, `${limit}`];
  return new GloveboxError(
    "SANDBOX_LOST",
    `The sandbox was ended: it took ${taken} of disk, more than its limit of ${most}.`,
    {
      suggestion: what === "bytes" ? "Write less, or raise limits.disk_mb." : "Make fewer files and folders.",
      context: { field: "limits.disk_mb", retryable: false },
    },
  );
}
