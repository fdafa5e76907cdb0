import { settlesWithin } from "../base/abort.ts";
import type { Logger } from "../base/logger.ts";
import type { EgressProxies } from "../egress/egress-proxies.ts";
import type { Engines } from "../engines/choice/discover.ts";
import type { PeerServer } from "../peers/peer-server.ts";
import type { Leases } from "../sandbox/owners/leases.ts";
import type { Reaper } from "../sandbox/owners/reaper.ts";
import type { WarmPool } from "../sandbox/pool/warm-pool.ts";
import type { Sandboxes } from "../sandbox/sandboxes.ts";
import type { DiskScratch } from "../sandbox/scratch/disk-scratch.ts";
import type { WorkArchives } from "../sandbox/work-archives.ts";
import type { Sampler } from "../telemetry/metrics/sampler.ts";
import type { ServerMetrics } from "../telemetry/prometheus/server-metrics.ts";
import type { Tracing } from "../telemetry/traces/tracing.ts";
import type { Environments } from "../workloads/environment/environments.ts";
import type { Previews } from "../workloads/preview/previews.ts";
import type { Sessions } from "../workloads/session/sessions.ts";
import type { OpenedLogs } from "./open-logs.ts";
import type { HostInstaller } from "./host-installer.ts";

export interface ClosingParts {
  /** Accepts connections of this user's other commands. */
  readonly peerServer: Pick<PeerServer, "endCalls" | "close">;
  readonly environments: Pick<Environments, "close" | "left">;
  readonly sessions: Pick<Sessions, "close">;
  readonly previews: Pick<Previews, "close">;
  /** Null if no sandboxes are started ahead of requests. */
  readonly pool: Pick<WarmPool, "close"> | null;
  readonly sandboxes: Pick<Sandboxes, "close" | "left">;
  readonly installers: Pick<Sandboxes, "close" | "left">;
  readonly archives: Pick<WorkArchives, "close">;
  readonly diskScratch: Pick<DiskScratch, "close">;
  readonly egressProxies: Pick<EgressProxies, "close">;
  readonly sampler: Pick<Sampler, "close">;
  readonly serverMetrics: Pick<ServerMetrics, "close">;
  readonly reaper: Pick<Reaper, "close" | "sweepStranded">;
  /** Null if nothing is installed on this machine itself. */
  readonly hostInstaller: Pick<HostInstaller, "close"> | null;
  readonly engines: Pick<Engines, "close">;
  /** Logs and the store. */
  readonly logs: Pick<OpenedLogs, "close">;
  readonly tracing: Pick<Tracing, "close">;
  readonly leases: Pick<Leases, "release">;
  readonly logger: Logger;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicMs: () => number;
}

/** How long running work may take to end before everything is removed by force. */
const workMs = 4_000;
/** How long closing what is not on an engine may take, and after that closing the engines. */
const restMs = 500;
/** How long flushing to the store, Redis and the trace collector may take. */
const logsMs = 1_500;

/**
 * Ends the work, removes every sandbox and closes everything else, within the time: an engine that does not answer
 * delays nothing else. Resolves to the ids of sandboxes and environments that may be left; the lease is then kept, so
 * that the next sweep knows that their owner is gone.
 */
export async function closeParts(parts: ClosingParts, withinMs: number): Promise<readonly string[]> {
  const { environments, sessions, previews, sandboxes, installers, monotonicMs } = parts;
  const removedByMs = monotonicMs() + Math.max(0, withinMs - 2 * restMs - logsMs);
  await settlesWithin(parts.peerServer.endCalls(), restMs);
  parts.sampler.close();
  parts.pool?.close();
  // Programs end first, each with its result.
  const ended = Promise.allSettled([environments.close(), sessions.close(), previews.close()]);
  await settlesWithin(ended, Math.min(workMs, withinMs / 2));
  const removed = Promise.allSettled([sandboxes.close(), installers.close(), ended, parts.reaper.close()]);
  const swept = removed.then(() => parts.reaper.sweepStranded());
  await settlesWithin(swept, Math.max(0, removedByMs - monotonicMs()));
  const left = [...new Set([...sandboxes.left, ...installers.left, ...environments.left])];
  // Logs end with their sandboxes.
  const { peerServer, archives, diskScratch, egressProxies } = parts;
  const rest = [peerServer.close(), archives.close(), diskScratch.close(), egressProxies.close()];
  await settlesWithin(Promise.allSettled(rest), restMs);
  parts.serverMetrics.close();
  await settlesWithin(Promise.allSettled([parts.hostInstaller?.close(), parts.engines.close()]), restMs);
  const sent = Promise.all([parts.logs.close(logsMs), parts.tracing.close(logsMs)]);
  await settlesWithin(sent, logsMs + restMs);
  if (left.length === 0) await parts.leases.release();
  else parts.logger.error({ left }, "not everything could be removed: the next start of Glovebox removes it");
  return left;
}
