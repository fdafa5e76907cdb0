import type { GloveboxError } from "../../../errors/glovebox-error.ts";
import type { RingOutput } from "../../../base/streams/ring-output.ts";
import type { ChangedToolingFile } from "../../../policy/tooling/tooling-changes.ts";
import type { Outcome } from "../../../sandbox/outcome.ts";

/** The result of a command. */
export interface CommandResult {
  readonly outcome: Outcome;
  readonly exitCode: number | null;
  readonly stdout: RingOutput;
  readonly stderr: RingOutput;
  readonly durationMs: number;
  /** Digest of the policy that governed it. */
  readonly policyDigest: string;
  readonly sandboxId: string;
  /** Whether the environment's container differs from that of the previous command. */
  readonly restarted: boolean;
  /** Files run by the project owner's tools that changed while it ran. */
  readonly toolingFiles: readonly ChangedToolingFile[];
  readonly warnings: readonly string[];
  readonly error: GloveboxError | null;
}
