import type { LimitsRequest } from "./request/run-settings-schema.ts";

/**
 * What a caller may do where that is less than the deployment allows. It opens nothing that the deployment does not: each
 * `null` stands for as much as that.
 */
export interface Grant {
  /** Sandboxes at once, sessions and environments included. */
  readonly maxSandboxes: number | null;
  /** Ceilings of the limits that a request may ask for; a field left out has the deployment's. */
  readonly ceilings: LimitsRequest;
  /** Names of engines. */
  readonly engines: readonly string[] | null;
  /** Words and domains of `network`; `none` is always allowed. */
  readonly networks: readonly string[] | null;
  /** Names of the deployment's secrets. */
  readonly secrets: readonly string[] | null;
  /** Folders below which host paths may be named, absolute or from `~/`; within the deployment's own roots. */
  readonly mountRoots: readonly string[] | null;
}

/**
 * What a principal may do; null: all that the deployment allows, and what is its operator's alone.
 * @throws PERMISSION_DENIED for the principal of a key that is not in force
 */
export type GrantOf = (principal: string) => Grant | null;
