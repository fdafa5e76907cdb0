import { mebibyte } from "../base/bytes.ts";
import { getMetricsContract } from "../operations/metrics-contract.ts";
import type { Platform } from "../platform/platform.ts";
import type { E2bSandbox } from "./e2b-sandbox.ts";

/** What a sandbox used at one moment; what the engine cannot tell is left out. */
export interface SandboxUse {
  readonly timestamp: string;
  readonly cpuCount: number;
  readonly cpuUsedPct: number;
  readonly memUsed: number;
  readonly memTotal: number;
  readonly memCache?: number;
  readonly diskUsed?: number;
  readonly diskTotal: number;
}

const maxSamples = 1_000;

/** The samples of a sandbox, oldest first. @throws what `get_metrics` throws */
export async function sandboxMetrics(
  call: Platform["call"],
  sandbox: E2bSandbox,
  { sandboxId, samples = maxSamples }: { readonly sandboxId: string; readonly samples?: number },
): Promise<readonly SandboxUse[]> {
  const { principal } = sandbox.caller;
  const answer = await call(getMetricsContract, { sandbox_id: sandboxId, samples }, { principal });
  const { cpus, memory_mb: memoryMb } = answer.limits;
  return answer.samples.map((sample) => ({
    timestamp: sample.timestamp,
    cpuCount: Math.max(1, Math.ceil(cpus)),
    // Of the CPUs that it may have; ours counts single ones.
    cpuUsedPct: Math.round((100 * (sample.cpu_percent ?? 0)) / Math.max(cpus, 0.01)) / 100,
    memUsed: Math.round((sample.memory_mb ?? 0) * mebibyte),
    memTotal: memoryMb * mebibyte,
    ...(sample.memory_cache_mb === null ? {} : { memCache: Math.round(sample.memory_cache_mb * mebibyte) }),
    ...(sample.scratch_mb === null ? {} : { diskUsed: Math.round(sample.scratch_mb * mebibyte) }),
    diskTotal: sandbox.limits.diskMb * mebibyte,
  }));
}
