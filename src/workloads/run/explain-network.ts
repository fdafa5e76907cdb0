import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { Denial } from "../../policy/network/denial.ts";

/** What became of a run's network. */
export interface NetworkReport {
  /** The first refusals. */
  readonly denials: readonly Denial[];
  readonly denialCount: number;
  /** Whether the egress proxy went away under the run. */
  readonly isLost: boolean;
}

/** The report of a run that had no network. */
export const noNetworkReport: NetworkReport = { denials: [], denialCount: 0, isLost: false };

/** What ran, in the words of errors. */
export type RunSubject = "program" | "command" | "agent";

const maxInWarning = 3;

/** The error of a program or command that failed after connections of it had been refused. */
export function explainDenials({ denials, denialCount }: NetworkReport, subject: RunSubject): GloveboxError {
  const [first] = denials;
  const more = denialCount > 1 ? ` ${denialCount} connections were refused in all.` : "";
  return new GloveboxError(
    "NETWORK_ERROR",
    `The ${subject} failed after its connection to ${first?.target} was refused. ${first?.reason}${more}`,
    {
      ...(first === undefined ? {} : { suggestion: first.remedy }),
      context: { denials, denial_count: denialCount, retryable: false },
    },
  );
}

/** The error of a program that failed when the egress proxy had gone. */
export function explainLostProxy(): GloveboxError {
  return new GloveboxError(
    "NETWORK_ERROR",
    "The egress proxy ended while the program ran, and its connections with it.",
    {
      suggestion: "Retry: the next run starts a fresh proxy.",
      context: { reason: "egress_proxy_failed", retryable: true },
    },
  );
}

/** What a caller should know of the network of a run that did not fail for it; one sentence each. */
export function networkWarnings({ denials, denialCount, isLost }: NetworkReport): readonly string[] {
  const shown = denials.slice(0, maxInWarning).map(({ target, rule }) => `${target} (${rule})`);
  const rest = denialCount > shown.length ? ` and ${denialCount - shown.length} more` : "";
  return [
    ...(denialCount === 0 ? [] : [`Connections were refused by the network policy: ${shown.join(", ")}${rest}.`]),
    ...(isLost ? ["The egress proxy ended while the program ran; connections after that failed."] : []),
  ];
}
