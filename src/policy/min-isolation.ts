import { GloveboxError } from "../errors/glovebox-error.ts";
import { isAtLeast, type Isolation } from "./isolation.ts";

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
