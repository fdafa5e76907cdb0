import type { ProgramResult } from "../run/program-result.ts";
import type { Artifact } from "./artifacts.ts";

/** The result of a one-shot execution. */
export interface ExecuteResult extends ProgramResult {
  /** The requested packages, in the versions that the program had. */
  readonly packages: readonly string[];
  readonly artifacts: readonly Artifact[];
}
