import type { ContainerStats } from "../../engine.ts";
import { containerPath, type ContainerLink } from "./container-link.ts";

/** The part of the engine's statistics that is read. */
interface StatsAnswer {
  readonly memory_stats?: { readonly usage?: number; readonly max_usage?: number };
}

/** The engine's own statistics: no count of kills, the peak only where cgroup v1 keeps one. Docker takes a second. */
export async function engineStats(
  link: Pick<ContainerLink, "id" | "api">,
  signal: AbortSignal | undefined,
): Promise<ContainerStats> {
  const query = { stream: "false", "one-shot": "true" };
  const request = { method: "GET", path: containerPath(link, "stats"), query, signal } as const;
  const { body } = await link.api.call("ask for statistics", request);
  const memory = (body as StatsAnswer | null)?.memory_stats;
  return { memoryBytes: memory?.usage ?? null, memoryPeakBytes: memory?.max_usage ?? null, oomKills: null };
}
