import type { SampledSandbox } from "../../telemetry/metrics/sampler.ts";
import { sampledToWire, sampleToWire } from "./sample-to-wire.ts";
import type { SandboxStatsRow } from "./sandbox-stats-contract.ts";

/** A sandbox with its newest sample, on the wire and for other processes of this user. */
export function usageRow(sampled: SampledSandbox, name: string | null): SandboxStatsRow {
  const { last } = sampled.ring;
  return {
    container_id: sampled.observed.sandbox.id,
    name,
    ...sampledToWire(sampled),
    sample: last === undefined ? null : sampleToWire(last),
  };
}
