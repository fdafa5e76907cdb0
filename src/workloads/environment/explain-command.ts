import { formatBytes } from "../../base/bytes.ts";
import { formatDuration } from "../../base/duration.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { Denial } from "../../policy/network/denial.ts";
import type { DiskExcess } from "./container/watch-disk.ts";
import type { Outcome } from "../../sandbox/outcome.ts";

export interface EndedCommand {
  readonly outcome: Outcome;
  readonly timeoutMs: number;
  readonly memoryBytes: number;
  readonly memoryPeakBytes: number | null;
  /** The files for which the container was ended; null when it was not. */
  readonly overDisk: DiskExcess | null;
  /** Connections refused while it ran. */
  readonly denials: readonly Denial[];
}

/** The error that goes with an outcome (SPEC ER3), or null when there is nothing to explain. */
export function explainCommand(ended: EndedCommand): GloveboxError | null {
  switch (ended.outcome) {
    case "completed":
    case "failed":
      return null;
    case "timed_out":
      return new GloveboxError("TIMEOUT", `The command was ended after ${formatDuration(ended.timeoutMs)}.`, {
        suggestion: "Do less in one command, raise timeout_seconds, or use start_process for what is to go on.",
        context: { timeout_seconds: ended.timeoutMs / 1000, retryable: false },
      });
    case "oom_killed":
      return outOfMemory(ended);
    case "policy_denied":
      return denied(ended.denials);
    case "cancelled":
      return new GloveboxError("CANCELLED", "The command was cancelled.", { context: { retryable: true } });
    case "sandbox_lost":
      return ended.overDisk === null ? lost() : diskFull(ended.overDisk);
  }
}

function outOfMemory({ memoryBytes, memoryPeakBytes }: EndedCommand): GloveboxError {
  const peak = memoryPeakBytes === null ? "" : ` The highest use seen was ${formatBytes(memoryPeakBytes)}.`;
  return new GloveboxError(
    "OOM_KILLED",
    `A process ran out of the ${formatBytes(memoryBytes)} of memory that all commands of the environment share.${peak}`,
    { context: { limit_mb: Math.round(memoryBytes / 1024 / 1024), retryable: false } },
  );
}

function denied(denials: readonly Denial[]): GloveboxError {
  const [first] = denials;
  return new GloveboxError(
    "NETWORK_ERROR",
    `The command failed after its connection to ${first?.target} was refused. ${first?.reason}`,
    {
      ...(first === undefined ? {} : { suggestion: first.remedy }),
      context: { denials: denials.slice(0, 20), denial_count: denials.length, retryable: false },
    },
  );
}

function lost(): GloveboxError {
  return new GloveboxError("SANDBOX_LOST", "The environment's container went away while the command ran.", {
    suggestion: "Run the command again: it starts a new container, with the project as it is on the host.",
    context: { retryable: true },
  });
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

/** What a caller should know of refused connections that the command did not fail for. */
export function deniedWarning(denials: readonly Denial[]): string {
  const targets = [...new Set(denials.map(({ target, rule }) => `${target} (${rule})`))];
  const rest = targets.length > 3 ? ` and ${targets.length - 3} more` : "";
  return `Connections were refused by the network policy: ${targets.slice(0, 3).join(", ")}${rest}.`;
}

/** What a caller should know of setuid bits that were taken of the project's files. */
export function setuidWarnings(count: number): readonly string[] {
  if (count === 0) return [];
  return [`The setuid bit was taken of ${count} ${count === 1 ? "file" : "files"} of the project.`];
}
