import { formatBytes } from "../../base/bytes.ts";
import { formatDuration } from "../../base/duration.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { Limits } from "../../policy/limits.ts";
import type { JudgedRun } from "./conclude-run.ts";
import { explainDenials, type RunSubject } from "./network-report.ts";
import type { KeptOutput } from "./watch-process.ts";
import { shortestRedacted, type Redaction } from "../../policy/redaction.ts";

/** What errors call the thing that ran, and the place where it ran. */
export interface RunWords {
  readonly subject: RunSubject;
  readonly sandbox: string;
  /** What to do when the sandbox went away; default: the catalogue's. What a call can do about its limits its door's operation says. */
  readonly suggestions: { readonly lost?: string };
  /** What ran out of memory, and how much it had. */
  readonly outOfMemory: (limit: string) => string;
}

type ExplainedLimits = Pick<Limits, "timeoutMs" | "memoryBytes">;

/**
 * The error that goes with an outcome (SPEC ER3), or null when there is nothing to explain; `explainFailure` says why it failed by
 * itself, if that is known.
 */
export function explainEnding(
  run: JudgedRun<KeptOutput>,
  words: RunWords,
  limits: ExplainedLimits,
  explainFailure: () => GloveboxError | null = () => null,
): GloveboxError | null {
  const { subject } = words;
  const { timeoutMs } = limits;
  switch (run.outcome) {
    case "completed":
      return null;
    case "failed":
      return explainFailure();
    case "policy_denied":
      return explainDenials(run.networkReport, subject);
    case "timed_out":
      return new GloveboxError("TIMEOUT", `The ${subject} was ended after ${formatDuration(timeoutMs)}.`, {
        context: { timeout_seconds: timeoutMs / 1000, retryable: false },
      });
    case "oom_killed":
      return outOfMemory(run, words, limits);
    case "cancelled":
      return new GloveboxError("CANCELLED", `The ${subject} was cancelled.`, { context: { retryable: true } });
    case "sandbox_lost":
      return run.isRemoved ? removed(words) : lost(words);
  }
}

/** What a caller should know about a run's secrets, one sentence each. */
export function secretWarnings({ found, tooShort }: Redaction): readonly string[] {
  return [
    ...found.map((name) => `The value of secret ${name} was replaced by [redacted:${name}] in what the program wrote.`),
    ...tooShort.map(
      (name) =>
        `Secret ${name} has fewer than ${shortestRedacted} bytes: it is not taken out of what the program writes.`,
    ),
  ];
}

function lost({ sandbox, subject, suggestions }: RunWords): GloveboxError {
  return new GloveboxError("SANDBOX_LOST", `${sandbox} went away while the ${subject} ran.`, {
    ...suggestion(suggestions.lost),
    context: { retryable: true },
  });
}

function removed({ sandbox, subject }: RunWords): GloveboxError {
  return new GloveboxError("SANDBOX_LOST", `${sandbox} was removed while the ${subject} ran.`, {
    suggestion: "It was removed on request, or with what it belongs to. Run it again if it is still needed.",
    context: { reason: "removed", retryable: false },
  });
}

function suggestion(text: string | undefined): { readonly suggestion?: string } {
  return text === undefined ? {} : { suggestion: text };
}

function outOfMemory(
  { memoryPeakBytes: peakBytes }: JudgedRun<KeptOutput>,
  words: RunWords,
  { memoryBytes }: ExplainedLimits,
): GloveboxError {
  const peak = peakBytes === null ? "" : ` The highest use seen was ${formatBytes(peakBytes)}.`;
  return new GloveboxError("OOM_KILLED", `${words.outOfMemory(formatBytes(memoryBytes))}${peak}`, {
    context: {
      limit_mb: toMebibytes(memoryBytes),
      peak_mb: peakBytes === null ? null : toMebibytes(peakBytes),
      retryable: false,
    },
  });
}

function toMebibytes(bytes: number): number {
  return Math.round((bytes / 1024 / 1024) * 10) / 10;
}
