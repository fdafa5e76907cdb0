/** Writes one structured line; `fields` must hold no secret. */
type Log = (fields: Readonly<Record<string, unknown>>, message: string) => void;

/** The part of a structured logger that Glovebox needs; pino's loggers fit. */
export interface Logger {
  readonly debug: Log;
  readonly info: Log;
  readonly warn: Log;
  readonly error: Log;
}

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
