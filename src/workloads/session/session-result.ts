import type { ProgramResult } from "../run/program-result.ts";

/** What became of one call of `run_code`. */
export interface SessionResult extends ProgramResult {
  readonly sessionId: string;
  /** Whether this call runs in another sandbox than the one before it. */
  readonly restarted: boolean;
  /** The packages of this call in the versions that it had. */
  readonly packages: readonly string[];
}
