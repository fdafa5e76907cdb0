/** What an engine does not enforce in full, in the sentences that results carry as warnings. */
export const engineCaveats = {
  /** It enforces something by other means; `what`: "a memory limit". */
  replaced: (engine: string, what: string, substitute: string): string =>
    `Engine ${engine} replaces ${what} with ${substitute}.`,
  /** It does not enforce it at all on this machine. */
  missing: (engine: string, what: string): string => `Engine ${engine} does not enforce ${what} here.`,
  /** A watch stands in for a disk limit. */
  watchedFiles: (engine: string, substitute: string): string =>
    `Engine ${engine} limits written files by ${substitute}.`,
  /** A watch stands in for a filter; `where`: "the project". */
  watchedSetuid: (engine: string, where: string, substitute: string): string =>
    `Engine ${engine} keeps setuid files out of ${where} by ${substitute}.`,
  /** None of these engines answers, so the embedded one is used. */
  fallback: (engines: readonly string[]): string =>
    `No container engine answers (${engines.join(", ")}): using the embedded sandbox.`,
} as const;

const beginnings =
  /^(?:Engine [a-z]+ (?:replaces|does not enforce|limits written files by|keeps setuid files out of) |No container engine answers \()/;

/** Whether a warning is one of those: true of the machine and its engine, and not of one run. */
export function isEngineCaveat(warning: string): boolean {
  return beginnings.test(warning);
}
