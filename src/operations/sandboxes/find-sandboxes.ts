import { probeEngine } from "../../engines/probe-engine.ts";
import { isOnlyByName } from "../../engines/engine-table.ts";
import type { ContainerSummary, Engine } from "../../engines/engine.ts";
import { labels, managed } from "../../engines/labels.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { PlatformParts } from "../handling/platform-parts.ts";
import { isOwnContainer } from "../../sandbox/owners/left-over.ts";
import type { SandboxRecord } from "../../sandbox/owners/sandbox-records.ts";
import type { FoundSandbox } from "./found-sandbox.ts";
import { noPeerServer, notRemoved, sandboxEnded } from "./sandbox-errors.ts";
import { removeSandboxesContract, type SandboxRow } from "./sandboxes-contract.ts";

/** All our sandboxes on the engines that answer, and those inside other processes of this user. */
export async function findSandboxes(
  platform: PlatformParts,
  engineName?: string,
  signal?: AbortSignal,
): Promise<FoundSandbox[]> {
  const engines = await answeringEngines(platform, engineName, signal);
  const listed = await Promise.all(engines.map((engine) => engine.list(managed, { signal })));
  const records = await platform.records.list();
  const byLabel = new Map(records.map((record) => [labelOf(record), record]));
  const all = engines.map((engine, index) => onEngine(platform, { engine, records: byLabel, signal }, listed[index]));
  const found = (await Promise.all(all)).flat();
  const known = new Set(found.map(({ row }) => row.sandbox_id));
  const asked = engineName ?? platform.engines.embedded;
  const embedded = records.filter(
    ({ id, engine }) => !known.has(id) && engine === platform.engines.embedded && engine === asked,
  );
  return [...found, ...(await Promise.all(embedded.map((record) => inAnotherProcess(platform, record))))];
}

/** An engine may need longer than its look to create what is recorded before. */
const creatingMs = 5_000;

/**
 * What runs now, as the engines said it last, with what has been recorded since then; they are asked again in the background, and
 * waited for when the last time is long ago.
 */
export async function listedSandboxes(
  platform: PlatformParts,
  engineName?: string,
  signal?: AbortSignal,
): Promise<readonly SandboxRow[]> {
  const look = (): Promise<FoundSandbox[]> => findSandboxes(platform, engineName);
  const { value: found, lookedAtMs, isNew } = await platform.lastFound.find(engineName ?? "", look, signal);
  if (isNew) return found.map(({ row }) => row);
  const records = await platform.records.list();
  const byLabel = new Map(records.map((record) => [labelOf(record), record]));
  const still = found.flatMap(({ row, startedAs, isRecorded }) => {
    const record = byLabel.get(startedAs);
    if (record !== undefined) return { ...row, ...recordedPart(record) };
    return isRecorded ? [] : row;
  });
  const seen = new Set(found.map(({ startedAs }) => startedAs));
  const since = records.filter((record) => !seen.has(labelOf(record)) && record.createdAtMs >= lookedAtMs - creatingMs);
  const rows = await Promise.all(since.map((record) => recordedRow(platform, record)));
  return [...still, ...rows.filter(({ owner, engine }) => owner === "living" && (engineName ?? engine) === engine)];
}

/** What living processes of this user have recorded: quick, since no engine is asked. */
export async function recordedSandboxes(platform: PlatformParts, engineName?: string): Promise<readonly SandboxRow[]> {
  const records = await platform.records.list();
  const rows = await Promise.all(records.map((record) => recordedRow(platform, record)));
  return rows.filter(({ owner, engine }) => owner === "living" && (engineName ?? engine) === engine);
}

/**
 * Engines that answer in time; an engine that was named must. A cluster that nobody named, by configuration or by a sandbox there, is not
 * asked: it may be others'.
 */
export async function answeringEngines(
  platform: PlatformParts,
  name?: string,
  signal?: AbortSignal,
): Promise<Engine[]> {
  if (name !== undefined) return [(await platform.chooseEngine(name, { signal })).engine];
  const { engines: known, config, defaultEngine, records } = platform;
  const used = new Set((await records.list()).map(({ engine }) => engine));
  const configured = defaultEngine ?? config.containerRuntime;
  const names = known.names.filter((each) => each === configured || used.has(each) || !isOnlyByName(each));
  const engines = await Promise.all(names.map((each) => known.get(each)));
  const probes = await Promise.all(engines.map((engine) => probeEngine(engine, signal)));
  return engines.filter((_, index) => probes[index]?.available === true);
}

/** The id in the labels of its container. */
function labelOf({ id, startedAs }: SandboxRecord): string {
  return startedAs ?? id;
}

interface EngineLook {
  readonly engine: Engine;
  /** By the ids in the labels of their containers. */
  readonly records: ReadonlyMap<string, SandboxRecord>;
  readonly signal: AbortSignal | undefined;
}

async function onEngine(
  platform: PlatformParts,
  { engine, records, signal }: EngineLook,
  summaries: readonly ContainerSummary[] = [],
): Promise<FoundSandbox[]> {
  return Promise.all(
    summaries.filter(isOwnContainer).map(async (summary) => {
      const startedAs = summary.labels[labels.sandbox] ?? "";
      const record = records.get(startedAs);
      return {
        row: await rowOf(platform, engine, { summary, record }),
        startedAs,
        isRecorded: record !== undefined,
        remove: async () => {
          // One of this process's own is ended together with its record and its slot.
          const own = platform.findLive(record?.id ?? startedAs);
          if (own !== undefined) return own.remove();
          // Whoever is inside learns from the owner that it was removed; from the engine, only that it is gone.
          if (record === undefined || !(await isRemovedByOwner(platform, record))) await summary.remove({ signal });
        },
      };
    }),
  );
}

async function rowOf(
  { leases }: PlatformParts,
  engine: Engine,
  { summary, record }: { readonly summary: ContainerSummary; readonly record: SandboxRecord | undefined },
): Promise<SandboxRow> {
  const label = (name: string): string => summary.labels[name] ?? "";
  return {
    sandbox_id: record?.id ?? (label(labels.sandbox) || summary.id),
    engine: engine.name,
    kind: label(labels.kind),
    ...shownOf(record),
    principal: record?.principal ?? "",
    created_at: new Date(summary.createdAtMs).toISOString(),
    running: summary.running,
    owner: await leases.stateOf(label(labels.owner)),
  };
}

function shownOf(record: SandboxRecord | undefined): Pick<SandboxRow, "name" | "work" | "image"> {
  return { name: record?.name ?? null, work: record?.work ?? null, image: record?.image ?? null };
}

/** What only its record says, and changes while it lives. */
function recordedPart(record: SandboxRecord): Pick<SandboxRow, "sandbox_id" | "name" | "work" | "image" | "principal"> {
  return { sandbox_id: record.id, ...shownOf(record), principal: record.principal ?? "" };
}

/** A sandbox of the embedded engine ends with its process, so only live processes have any. */
async function inAnotherProcess(platform: PlatformParts, record: SandboxRecord): Promise<FoundSandbox> {
  const row = await recordedRow(platform, record);
  const remove = (): Promise<void> =>
    row.owner === "living" ? removeByOwner(platform, record) : platform.records.delete(record.id);
  return { row, startedAs: labelOf(record), isRecorded: true, remove };
}

async function recordedRow({ leases }: PlatformParts, record: SandboxRecord): Promise<SandboxRow> {
  const owner = await leases.stateOf(record.owner);
  return {
    ...recordedPart(record),
    engine: record.engine,
    kind: record.kind,
    created_at: new Date(record.createdAtMs).toISOString(),
    running: owner === "living",
    owner,
  };
}

/** How long another process may take to remove one of its sandboxes, which only it can do. */
const removalMs = 15_000;
/** The same where the engine can remove it too. */
const askedMs = 5_000;

/** False if its owner cannot be asked, or does not remove it. */
async function isRemovedByOwner(platform: PlatformParts, record: SandboxRecord): Promise<boolean> {
  const { leases, peers } = platform;
  const { owner, peerAddress } = record;
  if (peers === null || peerAddress === null || peerAddress === undefined || owner === leases.owner) return false;
  if ((await leases.stateOf(owner)) !== "living") return false;
  const call = { principal: record.principal ?? "", isOperator: true, signal: AbortSignal.timeout(askedMs) };
  return peers
    .at(peerAddress)(removeSandboxesContract, { ids: [record.id] }, call)
    .then(
      () => true,
      () => false,
    );
}

/** @throws INTERNAL if the owner does not remove it, SANDBOX_LOST if it does not answer */
async function removeByOwner(platform: PlatformParts, { id, principal, peerAddress }: SandboxRecord): Promise<void> {
  const own = platform.findLive(id);
  if (own !== undefined) return own.remove();
  // Records of other versions lack it.
  if (peerAddress === null || peerAddress === undefined) throw noPeerServer(id);
  if (platform.peers === null) throw sandboxEnded(id);
  const late = AbortSignal.timeout(removalMs);
  try {
    const call = { principal: principal ?? "", isOperator: true, signal: late };
    await platform.peers.at(peerAddress)(removeSandboxesContract, { ids: [id] }, call);
  } catch (error) {
    if (late.aborted) throw notRemoved(id);
    // Gone before it was asked, which is what was wanted.
    if (!(error instanceof GloveboxError) || error.errorType !== "NOT_FOUND") throw error;
  }
}
