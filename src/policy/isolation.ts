import { isolationLevels } from "../operations/contract/wire-values.ts";

/** How strongly a run was sealed (SPEC RT5). */
export type Isolation = (typeof isolationLevels)[number];

/** What is accepted where anything is. */
export const weakestIsolation: Isolation = isolationLevels[0];

/** Whether something other than the programs' own interpreter keeps them in. */
export function isWall(level: Isolation | undefined): boolean {
  return level !== weakestIsolation;
}

/** Whether a level seals at least as strongly as the minimum. */
export function isAtLeast(level: Isolation, minimum: Isolation): boolean {
  return isolationLevels.indexOf(level) >= isolationLevels.indexOf(minimum);
}
