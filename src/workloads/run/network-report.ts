import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { Outcome } from "../../sandbox/outcome.ts";
import { denialWarning, type Denial } from "../../policy/network/denial.ts";

/** What happened on a run's network. */
export interface NetworkReport {
  /** The first refusals. */
  readonly denials: readonly Denial[];
  readonly denialCount: number;
  /** Whether the egress proxy ended during the run. */
  readonly isLost: boolean;
  /** Names that it looked up without a network, as its programs spelled them; left out: none are known. */
  readonly lookedUp?: readonly string[] | undefined;
}

/** Targets that a sentence names. */
const maxTargets = 3;

/** The report of a run without a network. */
export const noNetworkReport: NetworkReport = { denials: [], denialCount: 0, isLost: false };

/** What ran, as errors call it. */
export type RunSubject = "program" | "command" | "agent";

/** The error of a program or command that failed after some of its connections were refused. */
export function explainDenials({ denials, denialCount }: NetworkReport, subject: RunSubject): GloveboxError {
  const [first] = denials;
  const more = denialCount > 1 ? ` In all, ${denialCount} connections were refused.` : "";
  return new GloveboxError(
    "NETWORK_ERROR",
    `The ${subject} failed after its connection to ${first?.target} was refused. ${first?.reason}${more}`,
    {
      ...(first === undefined ? {} : { suggestion: first.remedy }),
      context: { denials, denial_count: denialCount, retryable: false },
    },
  );
}

/** ", after its connection to NAME was refused", or nothing if none was. */
export function afterRefusals(denials: readonly Denial[]): string {
  const targets = [...new Set(denials.map(({ target }) => target))];
  if (targets.length === 0) return "";
  const more = targets.length > maxTargets ? ` and ${targets.length - maxTargets} more` : "";
  const [what, was] = targets.length === 1 ? ["connection", "was"] : ["connections", "were"];
  return `, after its ${what} to ${targets.slice(0, maxTargets).join(", ")}${more} ${was} refused`;
}

/** The error of a program that failed after the egress proxy ended. */
export function explainLostProxy(): GloveboxError {
  return new GloveboxError(
    "NETWORK_ERROR",
    "The egress proxy ended while the program was running, and its connections broke.",
    {
      suggestion: "Retry: the next run starts a fresh proxy.",
      context: { reason: "egress_proxy_failed", retryable: true },
    },
  );
}

/**
 * What a caller should know about a run's network, one sentence each; nothing that the error of its outcome already
 * says.
 */
export function networkWarnings({ denials, denialCount, isLost }: NetworkReport, outcome: Outcome): readonly string[] {
  return [
    ...(denialCount === 0 || outcome === "policy_denied" ? [] : [denialWarning(denials, denialCount)]),
    ...(isLost ? ["The egress proxy ended while the program was running; later connections failed."] : []),
  ];
}

/** Denials of one run that are kept; more are counted. */
const maxKept = 20;

/** Collects the connections that one of several programs of a sandbox was refused. */
export class DenialLog {
  readonly #onDenied: (denial: Denial) => void;
  readonly #kept: Denial[] = [];
  #count = 0;

  /** `onDenied` is told of each. */
  constructor(onDenied: (denial: Denial) => void) {
    this.#onDenied = onDenied;
  }

  add(denial: Denial): void {
    this.#count += 1;
    if (this.#kept.length < maxKept) this.#kept.push(denial);
    this.#onDenied(denial);
  }

  /** Those until now; `isLost`: whether the egress proxy has ended. */
  report(isLost: boolean): NetworkReport {
    return { denials: [...this.#kept], denialCount: this.#count, isLost };
  }
}
