import { unknownStats, type ContainerStats } from "../../container-stats.ts";
import { containerPath, type ContainerLink } from "./container-link.ts";

/** The part of the engine's statistics that is read. */
interface StatsAnswer {
  readonly memory_stats?: { readonly usage?: number; readonly max_usage?: number };
  /** Nanoseconds. */
  readonly cpu_stats?: { readonly cpu_usage?: { readonly total_usage?: number } };
  readonly blkio_stats?: { readonly io_service_bytes_recursive?: readonly TransferAnswer[] | null };
}

/** Bytes to or from one device. */
interface TransferAnswer {
  /** `Read` or `read`, `Write` or `write`, and sums of these. */
  readonly op?: string;
  readonly value?: number;
}

/** The engine's own statistics: no count of kills, the peak only where cgroup v1 keeps one. Docker takes a second. */
export async function engineStats(
  link: Pick<ContainerLink, "id" | "api">,
  signal: AbortSignal | undefined,
): Promise<ContainerStats> {
  const query = { stream: "false", "one-shot": "true" };
  const request = { method: "GET", path: containerPath(link, "stats"), query, signal } as const;
  const { body } = await link.api.call("ask for statistics", request);
  const answer = body as StatsAnswer | null;
  const memory = answer?.memory_stats;
  const nanoseconds = answer?.cpu_stats?.cpu_usage?.total_usage;
  const transfers = answer?.blkio_stats?.io_service_bytes_recursive ?? null;
  return {
    ...unknownStats,
    memoryBytes: memory?.usage ?? null,
    memoryPeakBytes: memory?.max_usage ?? null,
    cpuTimeMs: nanoseconds === undefined ? null : nanoseconds / 1_000_000,
    diskReadBytes: sumOf(transfers, "read"),
    diskWriteBytes: sumOf(transfers, "write"),
  };
}

/** Null where the engine lists no device: it does not say whether nothing was transferred or nothing is counted. */
function sumOf(transfers: readonly TransferAnswer[] | null, direction: "read" | "write"): number | null {
  const counted = transfers?.filter(({ op }) => op?.toLowerCase() === direction) ?? [];
  return counted.length === 0 ? null : counted.reduce((sum, { value = 0 }) => sum + value, 0);
}
