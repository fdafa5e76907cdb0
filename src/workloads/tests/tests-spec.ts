import type { CheckedContextFile } from "../../policy/request/context-files.ts";
import type { OpenPlace } from "../../sandbox/mounts/open-place.ts";
import type { CopySettings } from "../dependencies/project-sandbox.ts";

/** A checked test run (SPEC TE1); every value is within the policy already. */
export interface TestsSpec extends CopySettings {
  /** The project's folder on this machine, open; it is read and never written. */
  readonly project: Pick<OpenPlace, "stablePath">;
  /** A shell line. */
  readonly testCommand: string;
  /** Laid over the project's copy right before the run. */
  readonly trustedFiles: readonly CheckedContextFile[];
  /** Names of the tests to run, as a result's `failures` have them; empty: all. */
  readonly onlyTests: readonly string[];
  /** Where a tool leaves a report in JUnit XML or CTRF, relative to the project's copy; undefined: none does. */
  readonly reportFile: string | undefined;
  /** Formats in which the whole report is requested. */
  readonly wanted: { readonly ctrf: boolean; readonly junit: boolean };
}
