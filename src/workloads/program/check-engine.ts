import {
  assertEnforceable,
  assertNetworkPossible,
  optionalDemands,
  type Demand,
} from "../../engines/assert-enforceable.ts";
import type { Capabilities } from "../../engines/capabilities.ts";
import type { CallOptions, Engine } from "../../engines/engine.ts";
import type { Isolation } from "../../policy/isolation.ts";
import type { NetworkPolicy } from "../../policy/network/network.ts";

/** Where a program is to run. */
export interface ProgramEngine {
  readonly engine: Engine;
  /** Undefined: the engine's own. */
  readonly ociRuntime: string | undefined;
}

/** What a program demands of its engine. */
export interface ProgramDemands {
  readonly network: NetworkPolicy;
  readonly minIsolation: Isolation;
  /** What was requested by name, so that an engine which cannot enforce it is refused and no substitute is silent. */
  readonly explicitDemands: readonly Demand[];
}

/**
 * Checks that an engine can run a program within its limits; substitutes are warnings.
 * @throws UNSUPPORTED, ENGINE_UNAVAILABLE, CANCELLED
 */
export async function checkEngine(
  { engine, ociRuntime }: ProgramEngine,
  { network, minIsolation, explicitDemands }: ProgramDemands,
  { signal }: CallOptions,
): Promise<{ readonly capabilities: Capabilities; readonly warnings: readonly string[] }> {
  const capabilities = await engine.capabilities({ signal, ociRuntime });
  const { warnings } = assertEnforceable(capabilities, {
    engine: engine.name,
    minIsolation,
    optional: optionalDemands(capabilities, explicitDemands),
  });
  if (network.kind !== "none") assertNetworkPossible(capabilities, engine.name);
  return { capabilities, warnings };
}
