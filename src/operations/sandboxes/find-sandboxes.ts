import { probeEngine } from "../../engines/choice/probe-engine.ts";
import type { ContainerSummary, Engine } from "../../engines/engine.ts";
import { labels, managed } from "../../engines/labels.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { PlatformParts } from "../handling/platform-parts.ts";
import { isOwnContainer } from "../../sandbox/owners/left-over.ts";
import type { SandboxRecord } from "../../sandbox/owners/sandbox-records.ts";
import { noPeerServer, notRemoved, sandboxEnded } from "./sandbox-errors.ts";
import { removeSandboxesContract, type SandboxRow } from "./sandboxes-contract.ts";

/** A sandbox that exists now, and how to end it from here. */
export interface FoundSandbox {
  readonly row: SandboxRow;
  remove(): Promise<void>;
}

/** All our sandboxes on the engines that answer, and those inside other processes of this user. */
export async function findSandboxes(
  platform: PlatformParts,
  engineName?: string,
  signal?: AbortSignal,
): Promise<FoundSandbox[]> {
  const engines = await answeringEngines(platform, engineName, signal);
  const listed = await Promise.all(engines.map((engine) => onEngine(platform, engine, signal)));
  const found = listed.flat();
  const known = new Set(found.map(({ row }) => row.sandbox_id));
  const records = (await platform.records.list()).filter((record) => !known.has(record.id));
  const asked = engineName ?? platform.engines.embedded;
  const embedded = records.filter(({ engine }) => engine === platform.engines.embedded && engine === asked);
  return [...found, ...(await Promise.all(embedded.map((record) => inAnotherProcess(platform, record))))];
}

/** Engines that answer in time; an engine that was named must. */
export async function answeringEngines(
  platform: PlatformParts,
  name?: string,
  signal?: AbortSignal,
): Promise<Engine[]> {
  if (name !== undefined) return [(await platform.chooseEngine(name, { signal })).engine];
  const engines = await Promise.all(platform.engines.names.map((each) => platform.engines.get(each)));
  const probes = await Promise.all(engines.map((engine) => probeEngine(engine, signal)));
  return engines.filter((_, index) => probes[index]?.available === true);
}

async function onEngine(
  platform: PlatformParts,
  engine: Engine,
  signal: AbortSignal | undefined,
): Promise<FoundSandbox[]> {
  const summaries = (await engine.list(managed, { signal })).filter(isOwnContainer);
  const records = new Map((await platform.records.list()).map((record) => [record.startedAs ?? record.id, record]));
  return Promise.all(
    summaries.map(async (summary) => {
      const startedAs = summary.labels[labels.sandbox] ?? "";
      const record = records.get(startedAs);
      return {
        row: await rowOf(platform, engine, { summary, record }),
        remove: async () => {
          // One of this process's own is ended together with its record and its slot.
          const own = platform.findLive(record?.id ?? startedAs);
          await (own === undefined ? summary.remove({ signal }) : own.remove());
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
    principal: record?.principal ?? "",
    created_at: new Date(summary.createdAtMs).toISOString(),
    running: summary.running,
    owner: await leases.stateOf(label(labels.owner)),
  };
}

/** A sandbox of the embedded engine ends with its process, so only live processes have any. */
async function inAnotherProcess(platform: PlatformParts, record: SandboxRecord): Promise<FoundSandbox> {
  const { leases, records } = platform;
  const owner = await leases.stateOf(record.owner);
  const row: SandboxRow = {
    sandbox_id: record.id,
    engine: record.engine,
    kind: record.kind,
    principal: record.principal ?? "",
    created_at: new Date(record.createdAtMs).toISOString(),
    running: owner === "living",
    owner,
  };
  return { row, remove: () => (owner === "living" ? removeByOwner(platform, record) : records.delete(record.id)) };
}

/** How long another process may take to remove one of its sandboxes. */
const removalMs = 15_000;

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
