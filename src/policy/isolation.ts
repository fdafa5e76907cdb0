import { isolationLevels } from "../operations/contract/wire-values.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";

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

interface IsolationFloor {
  /** What the deployment demands of runs that ask for nothing. */
  readonly minimum: Isolation;
  /** Whether a request may ask for less: the person's own command or code may, an agent must not accept it for them. */
  readonly mayLower: boolean;
}

/**
 * The isolation that a request demands of its engine.
 * @throws POLICY_DENIED for less than the deployment demands, where that is not the request's to accept
 */
export function decideMinIsolation(requested: Isolation | undefined, { minimum, mayLower }: IsolationFloor): Isolation {
  if (requested === undefined || mayLower || isAtLeast(requested, minimum)) return requested ?? minimum;
  throw new GloveboxError(
    "POLICY_DENIED",
    `min_isolation: expected "${minimum}" or stronger, which this deployment demands, got "${requested}".`,
    {
      suggestion: `Leave min_isolation out. Only who runs the server can accept less: --min-isolation ${requested} or GLOVEBOX_MIN_ISOLATION=${requested}`,
      context: { field: "min_isolation", min_isolation: minimum },
    },
  );
}
