import type { Logger } from "./logger.ts";

/** What all parts of this process share: made once by the platform, and passed on whole. */
export interface Kit {
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicMs: () => number;
  /** As in `process.platform`. */
  readonly platform: NodeJS.Platform;
  /** Node's executable, which programs of ours beside this process are started with. */
  readonly executable: string;
}
