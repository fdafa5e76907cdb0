import { formatBytes } from "../../base/bytes.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { JudgedRun } from "../run/conclude-run.ts";
import { explainEnding, type RunWords } from "../run/explain-ending.ts";
import type { KeptOutput } from "../run/watch-process.ts";
import type { DiskExcess } from "../run/watch-disk.ts";

/** The limits of a command, and why its container was ended. */
export interface ExplainedCommand {
  readonly timeoutMs: number;
  readonly memoryBytes: number;
  /** The files for which the container was ended; null if it was not. */
  readonly overDisk: DiskExcess | null;
}

const words: RunWords = {
  subject: "command",
  sandbox: "The environment's container",
  suggestions: {
    lost: "Run the command again: it starts a new container, with the project as it is on the host.",
  },
  outOfMemory: (limit) => `A process ran out of the ${limit} of memory that all commands of the environment share.`,
};

/** The error of a command, or null if there is nothing to explain. */
export function explainCommand(run: JudgedRun<KeptOutput>, command: ExplainedCommand): GloveboxError | null {
  const { overDisk } = command;
  if (run.outcome === "sandbox_lost" && overDisk !== null) return diskFull(overDisk);
  return explainEnding({ ...run, ...command, words });
}

function diskFull({ what, value, limit, inProject }: DiskExcess): GloveboxError {
  if (what === "files") {
    const grown = inProject === 0 ? "its own files outside /workdir" : "the project";
    return new GloveboxError(
      "SANDBOX_LOST",
      `The environment's container was ended: ${grown} grew by ${value} files and folders, more than the limit of ${limit}.`,
      {
        suggestion:
          inProject === 0
            ? "Make fewer files outside /workdir."
            : "Remove from the project on the host what should not be there, and make fewer files in /workdir.",
        context: { limit_files: limit, files: value, retryable: false },
      },
    );
  }
  const part = inProject === 0 ? "" : ` (of it the project grew by ${formatBytes(inProject)})`;
  return new GloveboxError(
    "SANDBOX_LOST",
    `The environment's container was ended: its files took ${formatBytes(value)}${part}, more than its limit of ${formatBytes(limit)}.`,
    {
      suggestion:
        inProject === 0
          ? "Write less outside /workdir, or create an environment with a larger limits.disk_mb."
          : "Write less, or create an environment with a larger limits.disk_mb; what was written to the project is still on the host.",
      context: { limit_mb: Math.round(limit / 1024 / 1024), retryable: false },
    },
  );
}

/** What a caller should know about setuid bits that were removed from the project's files. */
export function setuidWarnings(count: number): readonly string[] {
  if (count === 0) return [];
  return [`The setuid bit was taken of ${count} ${count === 1 ? "file" : "files"} of the project.`];
}
