import {
  assertEnforceable,
  assertNetworkPossible,
  optionalDemands,
  type Capabilities,
  type Demand,
} from "../../engines/capabilities.ts";
import type { CallOptions } from "../../engines/engine.ts";
import type { Isolation } from "../../policy/isolation.ts";
import type { NetworkPolicy } from "../../policy/network/network.ts";
import type { SessionSettings } from "./session-call.ts";

/** What a program that is to run in a session demands of its engine. */
export interface ProgramDemands {
  readonly network: NetworkPolicy;
  readonly minIsolation: Isolation;
  /** What was asked for by name, so that an engine which cannot enforce it is refused and no substitute is silent. */
  readonly explicitDemands: readonly Demand[];
}

/** Checks that the session's engine can hold the program. @throws UNSUPPORTED, ENGINE_UNAVAILABLE, CANCELLED */
export async function checkSession(
  { engine, ociRuntime }: SessionSettings,
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
