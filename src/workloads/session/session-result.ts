import type { ProgramResult } from "../run/program-result.ts";
import type { CallException, Display } from "./variables/read-report.ts";

/** The outcome of one call of `run_code`. */
export interface SessionResult extends ProgramResult {
  readonly sessionId: string;
  /** Whether this call runs in another sandbox than the one before it. */
  readonly restarted: boolean;
  /** The packages of this call in the versions that it had. */
  readonly packages: readonly string[];
  /** What the call displays in addition to its output. */
  readonly displays: readonly Display[];
  /** The exception that ended it; null where none did, and in a session that keeps no variables. */
  readonly exception: CallException | null;
  /** Where its variables are; null in a session that keeps none. */
  readonly context: string | null;
  /** Whether variables of earlier calls, or its own, are gone; null in a session that keeps none. */
  readonly variablesLost: boolean | null;
}
