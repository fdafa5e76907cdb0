/** Writes one structured line; `fields` must hold no secret. */
type Log = (fields: Readonly<Record<string, unknown>>, message: string) => void;

/** The part of a structured logger that Glovebox needs; pino's loggers fit. */
export interface Logger {
  readonly debug: Log;
  readonly info: Log;
  readonly warn: Log;
  readonly error: Log;
}
