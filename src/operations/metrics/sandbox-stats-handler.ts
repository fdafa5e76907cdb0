import type { SandboxRecord } from "../../sandbox/owners/sandbox-records.ts";
import type { OperationCall } from "../contract/operation-call.ts";
import { handle } from "../handling/handler.ts";
import type { PlatformParts } from "../handling/platform-parts.ts";
import { meantSandbox } from "../sandboxes/meant-sandbox.ts";
import { sandboxNotFound } from "../sandboxes/sandbox-errors.ts";
import { sandboxStatsContract, type SandboxStatsRow } from "./sandbox-stats-contract.ts";
import type { SampledSandbox } from "../../telemetry/sampler.ts";
import { sampledToWire, sampleToWire } from "./sample-to-wire.ts";

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

/** What this user's sandboxes currently use: this process's own, and those of other processes that answer. */
export const sandboxStatsHandler = handle(sandboxStatsContract, async (platform, { id: word }, call) => {
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

/** Null if the sandbox's process is gone, is not this user's or does not answer in time. */
async function askOther(
  platform: PlatformParts,
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
