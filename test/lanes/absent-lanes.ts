import type { Lane } from "./lanes.ts";

/** Lanes whose engine does not answer, each with the reason. */
export type AbsentLanes = Readonly<Partial<Record<Lane, string>>>;

/**
 * Passes them to vitest's configuration. Each file of such a lane would find out by itself, which takes a second of CPU
 * time: a third of the work on a machine without engines.
 */
export const absentLanesVariable = "GLOVEBOX_TEST_ABSENT_LANES";

/** Replaces the files of such a lane. */
export const absentLaneFile = "test/lanes/absent-lane.ts";

/** What is passed to that file. */
export interface AbsentLane {
  readonly lane: Lane;
  readonly reason: string;
  readonly rare: boolean;
  /** Files that are left out. */
  readonly files: readonly string[];
}

declare module "vitest" {
  interface ProvidedContext {
    readonly absentLane: AbsentLane;
  }
}

/** What scripts/test.ts has found; empty when vitest is run directly: then each file finds out by itself. */
export function readAbsentLanes(environment: NodeJS.ProcessEnv): AbsentLanes {
  return JSON.parse(environment[absentLanesVariable] ?? "{}") as AbsentLanes;
}
