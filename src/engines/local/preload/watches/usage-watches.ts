import type { ContainerSpec } from "../../../container-spec.ts";
import { unknownStats, type ContainerStats } from "../../../container-stats.ts";
import type { PreloadLauncher } from "../preload-launcher.ts";
import type { PreloadRun } from "../preload-run.ts";
import { DiskWatch } from "./disk-watch.ts";
import { MemoryWatch } from "./memory-watch.ts";

export interface UsageWatchesOptions {
  readonly spec: ContainerSpec;
  readonly launcher: PreloadLauncher;
  /** Programs that run now. */
  readonly runs: ReadonlySet<PreloadRun>;
}

/** The watches over one container, for what the kernel does not limit there. */
export class UsageWatches {
  readonly #memory: MemoryWatch | null;
  readonly #disk: DiskWatch | null;

  constructor({ spec, launcher, runs }: UsageWatchesOptions) {
    const { memoryIntervalMs: intervalMs, unlimitedFolders: folders } = launcher;
    const scratchBytes = spec.scratch.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    this.#memory =
      intervalMs === null ? null : new MemoryWatch({ limitBytes: spec.limits.memoryBytes, intervalMs, runs });
    this.#disk = folders.length === 0 ? null : new DiskWatch({ folders, limitBytes: scratchBytes, runs });
  }

  /** To be called when a program has begun; they stop by themselves. */
  start(): void {
    this.#memory?.start();
    this.#disk?.start();
  }

  async stats(): Promise<ContainerStats> {
    return this.#memory === null ? unknownStats : this.#memory.stats();
  }
}
