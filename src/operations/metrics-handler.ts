import { GloveboxError } from "../errors/glovebox-error.ts";
import { handle } from "./handler.ts";
import { meantSandbox, sandboxNotFound, type SandboxesNeeds } from "./sandboxes-handler.ts";
import {
  getMetricsContract,
  sandboxStatsContract,
  listAlertsContract,
  type SandboxStatsRow,
  type WireSample,
} from "./metrics-contract.ts";
import type { SandboxRecord } from "../sandbox/owners/sandbox-records.ts";
import type { OperationCall } from "./contract/operation-contract.ts";
import type { SampledSandbox, Sampler, MetricsSample } from "../telemetry/sampler.ts";
import { mebibyte } from "../base/bytes.ts";
import type { Logger } from "../base/logger.ts";
import type { AlertBook } from "../telemetry/alert-book.ts";

export interface MetricsNeeds extends Pick<SandboxesNeeds, "sandboxes" | "findLive" | "records" | "leases" | "peers"> {
  readonly sampler: Sampler;
  readonly alertBook: AlertBook;
  readonly logger: Logger;
}

const defaultSamples = 60;

/** `get_metrics`: other principals' sandboxes are treated as if they did not exist. */
export const getMetricsHandler = handle(getMetricsContract, async (platform: MetricsNeeds, request, call) => {
  const { sandbox_id: word, samples: count = defaultSamples, since } = request;
  const id = await meantSandbox(platform, word, { principal: call.principal });
  const found = platform.sampler.find(id);
  if (found === undefined || found.principal !== call.principal) throw notKnown(id);
  const sinceMs = since === undefined ? undefined : Date.parse(since);
  return {
    container_id: id,
    ...sampledToWire(found),
    running: platform.findLive(id) !== undefined,
    samples: found.ring.newest(count, sinceMs).map((sample) => ({ container_id: id, ...sampleToWire(sample) })),
  };
});

/** What this user's sandboxes currently use: this process's own, and those of other processes that answer. */
export const sandboxStatsHandler = handle(sandboxStatsContract, async (platform: MetricsNeeds, { id: word }, call) => {
  const id = word === undefined ? undefined : await meantSandbox(platform, word, call, "id");
  const live = platform.sampler.live;
  const known = new Set(live.map(({ observed }) => observed.sandbox.id));
  const all = await platform.records.list();
  const names = new Map(all.map((record) => [record.id, record.name ?? null]));
  const own = live.map((sampled) => usageRow(sampled, names.get(sampled.observed.sandbox.id) ?? null));
  const records = all.filter((record) => !known.has(record.id));
  const wanted = id === undefined ? records : records.filter((record) => record.id === id);
  const others = await Promise.all(wanted.map((record) => askOther(platform, record, call)));
  const rows = [...own, ...others.filter((row) => row !== null)].filter(
    (row) => id === undefined || row.container_id === id,
  );
  if (id !== undefined && rows.length === 0)
    throw sandboxNotFound(id, [...known, ...records.map((record) => record.id)]);
  return { sandboxes: rows.toSorted((a, b) => a.container_id.localeCompare(b.container_id)) };
});

/** How long a sandbox's owner may take to report what it already knows. */
const answerMs = 2_000;

const defaultAlerts = 100;

/** `list_alerts`: the caller's own. */
export const listAlertsHandler = handle(listAlertsContract, ({ alertBook }: MetricsNeeds, request, call) => {
  const { sandbox_id: sandbox, limit = defaultAlerts, ...filter } = request;
  return Promise.resolve({ alerts: alertBook.list(call.principal, { ...filter, sandbox }).slice(-limit) });
});

/** A sample on the wire. */
function sampleToWire(sample: MetricsSample): WireSample {
  return {
    timestamp: new Date(sample.takenAtMs).toISOString(),
    cpu_percent: rounded(sample.cpuPercent),
    memory_mb: inMebibytes(sample.memoryBytes),
    memory_cache_mb: inMebibytes(sample.memoryCacheBytes),
    scratch_mb: inMebibytes(sample.scratchBytes),
    network_rx_bytes: sample.networkReceivedBytes,
    network_tx_bytes: sample.networkSentBytes,
    disk_read_bytes: sample.diskReadBytes,
    disk_write_bytes: sample.diskWriteBytes,
    uptime_seconds: Math.round(sample.uptimeMs / 100) / 10,
  };
}

/** What never changes about a sampled sandbox. */
function sampledToWire({ observed }: SampledSandbox): {
  engine: string;
  kind: string;
  limits: { cpus: number; memory_mb: number };
} {
  const { engine, kind, limits } = observed;
  return { engine, kind, limits: { cpus: limits.cpus, memory_mb: limits.memoryBytes / mebibyte } };
}

function inMebibytes(bytes: number | null): number | null {
  return bytes === null ? null : rounded(bytes / mebibyte);
}

function rounded<Value extends number | null>(value: Value): Value | number {
  return value === null ? value : Math.round(value * 10) / 10;
}

function notKnown(id: string): GloveboxError {
  return new GloveboxError("NOT_FOUND", `No metrics of a sandbox ${JSON.stringify(id)}.`, {
    suggestion: "Take the sandbox_id of a result; samples are kept while the sandbox lives and for a while afterwards.",
    context: { sandbox_id: id },
  });
}

/** A sandbox with its newest sample, on the wire and for other processes of this user. */
function usageRow(sampled: SampledSandbox, name: string | null): SandboxStatsRow {
  const { last } = sampled.ring;
  return {
    container_id: sampled.observed.sandbox.id,
    name,
    ...sampledToWire(sampled),
    sample: last === undefined ? null : sampleToWire(last),
  };
}

/** Null if the sandbox's process is gone, is not this user's or does not answer in time. */
async function askOther(
  platform: MetricsNeeds,
  { id, name, owner, peerAddress: address = null }: SandboxRecord,
  { principal, signal }: OperationCall,
): Promise<SandboxStatsRow | null> {
  const { peers } = platform;
  if (peers === null || address === null || (await platform.leases.stateOf(owner)) !== "living") return null;
  try {
    const late = AbortSignal.timeout(answerMs);
    const call = { principal, isOperator: true, signal: signal === undefined ? late : AbortSignal.any([late, signal]) };
    const { sandboxes } = await peers.at(address)(sandboxStatsContract, { id }, call);
    const row = sandboxes.find(({ container_id: each }) => each === id);
    return row === undefined ? null : { ...row, name: name ?? null };
  } catch (error) {
    platform.logger.debug({ sandbox: id, err: error }, "the owner of a sandbox did not tell its use");
    return null;
  }
}
