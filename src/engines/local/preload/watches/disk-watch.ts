import { formatBytes } from "../../../../base/bytes.ts";
import type { PreloadRun } from "../preload-run.ts";
import { folderSize } from "./folder-size.ts";

export interface DiskWatchOptions {
  /** Real paths. */
  readonly folders: readonly string[];
  /** For all of them together. */
  readonly limitBytes: number;
  /** Programs that run now. */
  readonly runs: ReadonlySet<PreloadRun>;
}

/** How often the folders are measured (SPEC RT6). */
const intervalMs = 1_000;

/** Replaces a limit for folders that the kernel does not limit: ends all programs when their files use more. */
export class DiskWatch {
  readonly #options: DiskWatchOptions;
  #timer: NodeJS.Timeout | undefined;
  #measuring = false;

  constructor(options: DiskWatchOptions) {
    this.#options = options;
  }

  /** To be called when a program has begun. */
  start(): void {
    this.#timer ??= setInterval(() => {
      if (this.#options.runs.size === 0) this.#stop();
      else if (!this.#measuring) void this.#measure();
    }, intervalMs).unref();
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #measure(): Promise<void> {
    const { folders, limitBytes, runs } = this.#options;
    this.#measuring = true;
    const bytes = await folderSize(folders);
    this.#measuring = false;
    if (bytes <= limitBytes) return;
    const reason = `the program was killed because its files take more than ${formatBytes(limitBytes)}`;
    await Promise.all([...runs].map((run) => run.endFor(reason)));
  }
}
