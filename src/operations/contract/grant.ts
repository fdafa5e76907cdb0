import type { LimitsRequest } from "./run-settings-schema.ts";

/**
 * What a caller may do, if that is less than the deployment allows. It never allows more than the deployment does:
 * `null` means as much as the deployment.
 */
export interface Grant {
  /** Sandboxes at a time, including those of sessions and environments. */
  readonly maxSandboxes: number | null;
  /** Ceilings of the limits that a request may ask for; a missing field means the deployment's. */
  readonly ceilings: LimitsRequest;
  /** Names of engines. */
  readonly engines: readonly string[] | null;
  /** Allowed words and domains for `network`; `none` is always allowed. */
  readonly networks: readonly string[] | null;
  /** References of images, and registries as `HOST[:PORT]/*`, beside the configured ones; null: `images.allow`. */
  readonly images: readonly string[] | null;
  /** Names of the deployment's secrets. */
  readonly secrets: readonly string[] | null;
  /** Folders below which host paths may be named, absolute or from `~/`; within the deployment's own roots. */
  readonly mountRoots: readonly string[] | null;
}

/**
 * What a principal may do; null: everything the deployment allows, including what is reserved for its operator.
 * @throws PERMISSION_DENIED for the principal of a key that is not in force
 */
export type GrantOf = (principal: string) => Grant | null;
