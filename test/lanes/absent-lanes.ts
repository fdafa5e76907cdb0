import type { Lane } from "./lanes.ts";

/** Lanes whose engine does not answer, each with the reason. */
export type AbsentLanes = Readonly<Partial<Record<Lane, string>>>;

/**
 * Tells vitest's configuration of them. Each file of such a lane would find that out by itself, at a second of CPU time:
 * a third of what a machine without engines has to do.
 */
export const absentLanesVariable = "GLOVEBOX_TEST_ABSENT_LANES";

/** Stands in for the files of such a lane. */
export const absentLaneFile = "test/lanes/absent-lane.ts";

/** What that file is told. */
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

/** What scripts/test.ts has found; nothing when vitest is run by itself, which asks each file. */
export function readAbsentLanes(environment: NodeJS.ProcessEnv): AbsentLanes {
  return JSON.parse(environment[absentLanesVariable] ?? "{}") as AbsentLanes;
}
