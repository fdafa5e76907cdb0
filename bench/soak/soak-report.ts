import type { Machine } from "../parts/report.ts";

/** The results of an hour of work and faults, as they are kept in JSON. */
export interface SoakReport {
  readonly minutes: number;
  readonly date: string;
  readonly machine: Machine;
  readonly versions: Readonly<Record<string, string>>;
  /** For each kind of request, how many ended in each way. */
  readonly ends: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Answers that took over a minute; left out in older reports. */
  readonly slow?: readonly string[];
  /** How often each fault was caused. */
  readonly faults: Readonly<Record<string, number>>;
  /** Faults that could not be caused here, and why. */
  readonly leftOut: Readonly<Record<string, string>>;
  readonly resources: readonly ServerResources[];
  /** On a cluster: after all servers were killed with -9 while they worked. */
  readonly afterKill?: AfterKill;
  /** Every problem that was found; empty: there were none. */
  readonly problems: readonly string[];
}

/** Milliseconds; null: longer than it may take. */
export interface AfterKill {
  /** Until no program ran any more. */
  readonly programsMs: number | null;
  /** From the servers' next start until nothing was left of what they had made. */
  readonly objectsMs: number | null;
}

/** What an idle server uses: after the warm-up round, and at the end. */
export interface ServerResources {
  readonly server: string;
  readonly before: Resources;
  readonly after: Resources;
}

export interface Resources {
  readonly residentMb: number;
  readonly descriptors: number;
}

/** How much more may be used at the end than after the warm-up, as a share. */
export const maxGrowth = 0.1;

/** Sentences about what grew too much. */
export function growthOf({ server, before, after }: ServerResources): readonly string[] {
  return (["residentMb", "descriptors"] as const)
    .filter((key) => after[key] > before[key] * (1 + maxGrowth))
    .map((key) => `${server}: ${key} went from ${before[key]} to ${after[key]}.`);
}
