import type { Machine } from "../parts/report.ts";

/** What an hour of work and faults came to, as it is kept in JSON. */
export interface SoakReport {
  readonly minutes: number;
  readonly date: string;
  readonly machine: Machine;
  readonly versions: Readonly<Record<string, string>>;
  /** Of each kind of request, how many ended how. */
  readonly ends: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** How often each fault was made. */
  readonly faults: Readonly<Record<string, number>>;
  /** Faults that could not be made here, and why. */
  readonly leftOut: Readonly<Record<string, string>>;
  readonly resources: readonly ServerResources[];
  /** Everything that should not be; empty: it held. */
  readonly problems: readonly string[];
}

/** What a server takes when nothing is asked of it: after the warm-up round, and at the end. */
export interface ServerResources {
  readonly server: string;
  readonly before: Resources;
  readonly after: Resources;
}

export interface Resources {
  readonly residentMb: number;
  readonly descriptors: number;
}

/** What may be more at the end than it was after the warm-up, as a share. */
export const maxGrowth = 0.1;

/** What grew too much, as sentences. */
export function growthOf({ server, before, after }: ServerResources): readonly string[] {
  return (["residentMb", "descriptors"] as const)
    .filter((key) => after[key] > before[key] * (1 + maxGrowth))
    .map((key) => `${server}: ${key} went from ${before[key]} to ${after[key]}.`);
}
