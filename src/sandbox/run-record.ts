import { createHash } from "node:crypto";
import { canonicalJson } from "../base/json-text.ts";
import type { NetworkPolicy } from "../policy/network/network.ts";
import type { Outcome } from "./outcome.ts";

/** What is known about a run before its program starts. */
export interface RunFacts {
  /** Its id where who asked for it knows that already; default: a new one. */
  readonly id?: string | undefined;
  readonly principal: string;
  readonly session?: string | undefined;
  readonly environment?: string | undefined;
  /** What runs, of `describeWork`. */
  readonly work: string;
  readonly timeoutMs: number;
  readonly network: NetworkPolicy;
}

/** A run that has begun. */
export interface StartedRun {
  readonly id: string;
  readonly sandbox: string;
  readonly engine: string;
  readonly kind: string;
  readonly principal: string;
  readonly session: string | null;
  readonly environment: string | null;
  /** The labels that its caller gave its sandbox. */
  readonly labels: Readonly<Record<string, string>>;
  /** Its caller's own word for its sandbox; null: none. */
  readonly name: string | null;
  /** What runs, of `describeWork`. */
  readonly work: string;
  /** Null where the engine has no images. */
  readonly image: string | null;
  /** Milliseconds since the epoch. */
  readonly startedAtMs: number;
  readonly policy: RunPolicy;
}

/** How a run ended. */
export interface RunEnding {
  readonly outcome: Outcome;
  readonly exitCode: number | null;
  /** Null when its program never started. */
  readonly durationMs: number | null;
  /** Null but for a run that has no result. */
  readonly errorType: string | null;
  /** Milliseconds since the epoch. */
  readonly endedAtMs: number;
}

/** What a run may do, and the digest by which its result names it. */
export interface RunPolicy {
  /** SHA-256 of `text`, in hexadecimal digits. */
  readonly digest: string;
  /** Canonical JSON: engine, image, limits, network, mounts. */
  readonly text: string;
}

/** A run whose end is still to be reported; reporting it twice does no harm. */
export interface OpenRun {
  readonly id: string;
  readonly policyDigest: string;
  end(ending: Omit<RunEnding, "endedAtMs">): void;
}

/** The policy that follows from these facts. */
export function runPolicy(facts: Readonly<Record<string, unknown>>): RunPolicy {
  const text = canonicalJson(facts);
  return { digest: createHash("sha256").update(text).digest("hex"), text };
}
