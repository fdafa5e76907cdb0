import type { Logger } from "../../base/logger.ts";

/** A collector that is away fails every few seconds; so often it is worth a warning. */
const warnEveryMs = 10 * 60_000;
/** Characters of a message: errors of exporters quote what the collector answered. */
const maxMessageLength = 500;

type Say = (message: string) => void;

/** Where the SDK says what goes wrong. */
export interface Diagnostics {
  readonly error: Say;
  readonly warn: Say;
  readonly info: Say;
  readonly debug: Say;
  readonly verbose: Say;
}

/** Passes it on to the log: one warning in ten minutes, the rest for those who look closely. */
export function diagnosticsTo(logger: Logger, monotonicMs: () => number): Diagnostics {
  let quietUntilMs = -Infinity;
  const debug: Say = (message) => logger.debug({ opentelemetry: message.slice(0, maxMessageLength) }, "OpenTelemetry");
  const warn: Say = (message) => {
    if (monotonicMs() < quietUntilMs) return debug(message);
    quietUntilMs = monotonicMs() + warnEveryMs;
    logger.warn({ opentelemetry: message.slice(0, maxMessageLength) }, "traces or metrics may not be sent");
  };
  return { error: warn, warn, info: debug, debug, verbose: debug };
}
