import type { GloveboxError } from "../../errors/glovebox-error.ts";
import type { EngineName } from "../../engines/engine.ts";
import type { Isolation } from "../../policy/isolation.ts";
import type { Outcome } from "../../sandbox/outcome.ts";

/** What became of one program. */
export interface ProgramResult {
  readonly outcome: Outcome;
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly durationMs: number;
  readonly memoryPeakBytes: number | null;
  readonly truncated: boolean;
  readonly sandboxId: string;
  readonly engine: EngineName;
  readonly isolation: Isolation;
  /** Null when none was asked for. */
  readonly ociRuntime: string | null;
  readonly warnings: readonly string[];
  readonly error: GloveboxError | null;
}
