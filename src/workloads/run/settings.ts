import type { Demand } from "../../engines/assert-enforceable.ts";
import type { Isolation } from "../../policy/isolation.ts";
import type { Limits } from "../../policy/limits.ts";
import type { NetworkPolicy } from "../../policy/network/network.ts";

/** What every request that starts a sandbox says (SPEC RT10), resolved once; every value is within the policy already. */
export interface Settings {
  /** Id for its sandbox if the caller has already chosen one; undefined: a new one. */
  readonly sandboxId?: string | undefined;
  /** Its caller's own word for it; undefined: none. */
  readonly name?: string | undefined;
  /** Labels that its caller gave it. */
  readonly labels: Readonly<Record<string, string>>;
  /** Requested OCI runtime; undefined: the engine's default. */
  readonly ociRuntime: string | undefined;
  readonly limits: Limits;
  /** Of what was asked for; installations have the registries. */
  readonly network: NetworkPolicy;
  /** Variables of the request, and those of the host that the deployment lets through (SPEC EN1). */
  readonly environment: Readonly<Record<string, string>>;
  readonly hostEnvironment: Readonly<Record<string, string>>;
  readonly minIsolation: Isolation;
  /** What was requested by name, so that an engine which cannot enforce it is refused and no substitute is silent. */
  readonly explicitDemands: readonly Demand[];
}
