import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "../../base/logger.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";

/** Time between two looks while something runs (SPEC RT6), and while nothing is known to. */
const everyMs = { busy: 1_000, idle: 5_000 };

export interface DiskWatch {
  readonly sandbox: Sandbox;
  readonly limitBytes: number;
  readonly isBusy: () => boolean;
  readonly onExceeded: (writtenBytes: number) => void;
  readonly logger: Logger;
  /** Ends the watch. */
  readonly signal: AbortSignal;
}

/** Measures what a sandbox's programs have written to its root until it is more than the limit. */
export async function watchDisk(watch: DiskWatch): Promise<void> {
  const { sandbox, limitBytes, isBusy, onExceeded, logger, signal } = watch;
  while (!signal.aborted) {
    try {
      const written = await sandbox.writtenBytes({ signal });
      if (written !== null && written > limitBytes) return onExceeded(written);
    } catch (error) {
      // It may have gone away under the question; whoever runs something in it learns that.
      if (!signal.aborted) logger.debug({ sandbox: sandbox.id, err: error }, "the root was not measured");
    }
    await sleep(isBusy() ? everyMs.busy : everyMs.idle, undefined, { signal, ref: false }).catch(() => undefined);
  }
}
