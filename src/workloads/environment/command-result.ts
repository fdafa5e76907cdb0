import type { GloveboxError } from "../../errors/glovebox-error.ts";
import type { RingOutput } from "../../base/ring-output.ts";
import type { Outcome } from "../../sandbox/outcome.ts";

/** A checked command of an environment (SPEC EV2). */
export interface CommandSpec {
  /** Program and arguments. */
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** Absolute inside. */
  readonly workingDirectory: string;
}

/** What became of a command. */
export interface CommandResult {
  readonly outcome: Outcome;
  readonly exitCode: number | null;
  readonly stdout: RingOutput;
  readonly stderr: RingOutput;
  readonly durationMs: number;
  /** Whether the environment's container is another one than that of the command before. */
  readonly restarted: boolean;
  readonly warnings: readonly string[];
  readonly error: GloveboxError | null;
}
