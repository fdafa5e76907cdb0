import { findNamed, type Named } from "../base/id.ts";
import { handle } from "./handler.ts";
import {
  listSandboxesContract,
  pruneSandboxesContract,
  removeSandboxesContract,
  findSandboxPlaceContract,
  type SandboxRow,
} from "./sandboxes-contract.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import { probeEngine } from "../engines/unavailability.ts";
import { isOnlyByName } from "../engines/engine-table.ts";
import type { ContainerSummary, Engine } from "../engines/engine.ts";
import { labels, managed } from "../engines/labels.ts";
import { isOwnContainer } from "../sandbox/sandbox-plan.ts";
import type { SandboxRecord, SandboxRecords } from "../sandbox/owners/sandbox-records.ts";
import type { OperationCall } from "./contract/operation-contract.ts";
import type { EngineChooser } from "./settle.ts";
import type { LastFound } from "../base/kept.ts";
import type { Config } from "../config/config.ts";
import type { Engines } from "../engines/discover.ts";
import type { Peers } from "../peers/peers.ts";
import type { Leases } from "../sandbox/owners/leases.ts";
import type { Reaper } from "../sandbox/owners/reaper.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { Sandboxes } from "../sandbox/sandboxes.ts";
import type { Environments } from "../workloads/environment/environments.ts";
import type { Sessions } from "../workloads/session/sessions.ts";

/** A sandbox that exists now, and how to end it from here. */
export interface FoundSandbox {
  readonly row: SandboxRow;
  /** As in the labels of its container. */
  readonly startedAs: string;
  /** Whether there was a record of it. */
  readonly isRecorded: boolean;
  remove(): Promise<void>;
}

/** Where sandboxes are found, and what removes them. */
export interface SandboxesNeeds extends Pick<EngineChooser, "chooseEngine"> {
  readonly config: Config;
  /** Engine for requests that name none; overrides the configuration's. */
  readonly defaultEngine: string | undefined;
  readonly engines: Engines;
  readonly sandboxes: Sandboxes;
  /** A live sandbox of this process, whatever it is for. */
  findLive(id: string): Sandbox | undefined;
  readonly records: SandboxRecords;
  readonly leases: Leases;
  /** The sandboxes on an engine, or on all of them (""), as they were found last. */
  readonly lastFound: LastFound<FoundSandbox[]>;
  /** The user's other processes; null: requests only concern this one. */
  readonly peers: Pick<Peers, "at" | "addresses"> | null;
  readonly reaper: Reaper;
}

export interface SandboxPlaceNeeds extends SandboxesNeeds {
  readonly sessions: Sessions;
  readonly environments: Environments;
}

/** What runs now. */
export const listSandboxesHandler = handle(listSandboxesContract, async (platform: SandboxesNeeds, request, call) => {
  const rows =
    request.recorded === true
      ? await recordedSandboxes(platform, request.engine)
      : await listedSandboxes(platform, request.engine, call.signal);
  return { sandboxes: rows.toSorted((a, b) => a.created_at.localeCompare(b.created_at)) };
});

/** Ends and removes sandboxes by id. */
export const removeSandboxesHandler = handle(
  removeSandboxesContract,
  async (platform: SandboxesNeeds, request, call) => {
    const meant = await Promise.all(request.ids.map((word) => meantSandbox(platform, word, call, "ids")));
    const ids = [...new Set(meant)];
    const own = ids.map((id) => platform.findLive(id)).filter((sandbox) => sandbox !== undefined);
    if (own.length === ids.length) {
      await Promise.all(own.map((sandbox) => sandbox.remove()));
      return { removed: ids };
    }
    const found = await findSandboxes(platform, undefined, call.signal);
    const byId = found.map((sandbox) => ({ id: sandbox.row.sandbox_id, sandbox }));
    const chosen = ids.map((id) => {
      // What dead processes left has no names any more.
      const match = findNamed(id, byId, "ids");
      if (match !== undefined) return match;
      throw sandboxNotFound(
        id,
        byId.map((each) => each.id),
      );
    });
    const distinct = [...new Set(chosen)];
    await Promise.all(distinct.map(({ sandbox }) => sandbox.remove()));
    platform.lastFound.forget();
    return { removed: distinct.map(({ id }) => id) };
  },
);

/** Removes what dead servers left, or everything. */
export const pruneSandboxesHandler = handle(pruneSandboxesContract, async (platform: SandboxesNeeds, request, call) => {
  const engines = await answeringEngines(platform, undefined, call.signal);
  const swept = (await Promise.all(engines.map((engine) => platform.reaper.sweep(engine)))).flat();
  const rest = request.all === true ? await findSandboxes(platform, undefined, call.signal) : [];
  await Promise.all(rest.map((sandbox) => sandbox.remove()));
  platform.lastFound.forget();
  return { removed: [...swept, ...rest.map(({ row }) => row.sandbox_id)] };
});

/** `find_sandbox_place`: other principals' sandboxes are treated as if they did not exist. */
export const findSandboxPlaceHandler = handle(
  findSandboxPlaceContract,
  async (platform: SandboxPlaceNeeds, { sandbox_id: word }, { principal }) => {
    const { sessions, environments, sandboxes } = platform;
    const id = await meantSandbox(platform, word, { principal });
    const isLive = sandboxes.recordsOf(principal).some((each) => each.id === id);
    // If its sandbox is gone, a session or environment already has another one, or gets it with its next call.
    if (!isLive || sandboxes.find(id)?.state !== "running") throw notFound(id);
    const session = sessions.list(principal).find(({ sandboxId }) => sandboxId === id);
    if (session !== undefined) return { session_id: session.id };
    const environment = environments.up(principal).find(({ sandboxId }) => sandboxId === id);
    if (environment !== undefined) return { env_id: environment.spec.id };
    throw noPlace(id);
  },
);

/** All our sandboxes on the engines that answer, and those inside other processes of this user. */
export async function findSandboxes(
  platform: SandboxesNeeds,
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
  platform: SandboxesNeeds,
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

/**
 * Engines that answer in time; an engine that was named must. A cluster that nobody named, by configuration or by a sandbox there, is not
 * asked: it may be others'.
 */
export async function answeringEngines(
  platform: SandboxesNeeds,
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

interface EngineLook {
  readonly engine: Engine;
  /** By the ids in the labels of their containers. */
  readonly records: ReadonlyMap<string, SandboxRecord>;
  readonly signal: AbortSignal | undefined;
}

/** How long another process may take to remove one of its sandboxes, which only it can do. */
const removalMs = 15_000;
/** The same where the engine can remove it too. */
const askedMs = 5_000;

/**
 * The id of the live sandbox that a caller means by its id, its name or the beginning of its id (SPEC UI1); the word itself
 * if it means none. Only the principal's own are looked through. For the operator that includes those of the user's other
 * processes, and the beginnings of all ids, but no name that another principal gave: that would let it choose what the
 * operator reaches.
 * @throws INVALID_REQUEST naming the candidates if it means several
 */
export async function meantSandbox(
  platform: Pick<SandboxesNeeds, "sandboxes" | "records">,
  word: string,
  { principal, isOperator = false }: Pick<OperationCall, "principal" | "isOperator">,
  field = "sandbox_id",
): Promise<string> {
  const own = platform.sandboxes.recordsOf(principal);
  const isWhole = own.some(({ id }) => id === word);
  const all = isWhole || !isOperator ? own : await nameable(platform, principal);
  return findNamed(word, all, field)?.id ?? word;
}

/** There is none with that id; lists those that exist. */
export function sandboxNotFound(id: string, known: readonly string[]): GloveboxError {
  const existing = known.length === 0 ? "There are none." : `There are ${known.join(", ")}.`;
  return new GloveboxError("NOT_FOUND", `No sandbox ${JSON.stringify(id)}. ${existing}`, {
    context: { sandbox_id: id, sandbox_ids: known },
  });
}

/** The caller has none with that id, whether or not someone else does. */
export function notYours(id: string): GloveboxError {
  const shown = id.slice(0, 80);
  return new GloveboxError("NOT_FOUND", `You have no live sandbox ${JSON.stringify(shown)}.`, {
    suggestion: "List your sandboxes (GET /api/sandbox, `glovebox ps`): it may have ended.",
    context: { sandbox_id: shown },
  });
}

/** Asked of the process that had it. */
export function sandboxEnded(id: string): GloveboxError {
  return new GloveboxError("NOT_FOUND", `Sandbox ${JSON.stringify(id)} has ended.`, {
    suggestion: "List the live sandboxes (`glovebox ps`).",
    context: { sandbox_id: id },
  });
}

/** It was removed on request, or with what it belonged to, while something ran in it. */
export function sandboxRemoved(id: string): GloveboxError {
  return new GloveboxError("SANDBOX_LOST", `Sandbox ${id} was removed.`, {
    suggestion:
      "Open another one. `glovebox rm`, the console and the API remove sandboxes, and so does the end of the run, session or environment that they belong to.",
    context: { sandbox_id: id, reason: "removed", retryable: false },
  });
}

/** Its owner is alive but accepts no connections. */
export function noPeerServer(id: string): GloveboxError {
  return new GloveboxError(
    "UNSUPPORTED",
    `The process that owns ${id} does not accept commands from other processes.`,
    {
      suggestion:
        "Its log says why: the state folder must be writable and belong to its user. End that process to end the sandbox.",
      context: { sandbox_id: id },
    },
  );
}

/** Its owner is gone. */
export function ownerGone(id: string): GloveboxError {
  return new GloveboxError("SANDBOX_LOST", `The process that owned ${id} has ended, and nothing can be run in it.`, {
    suggestion: "`glovebox prune` removes what it left.",
    context: { sandbox_id: id },
  });
}

/** It is on an engine that this user sees, but its owner is not a process of this user on this machine. */
export function ownerElsewhere(id: string): GloveboxError {
  return new GloveboxError(
    "UNSUPPORTED",
    `${id} belongs to a process of another user or machine, or with another state folder.`,
    {
      suggestion: "Run the command as that user, on that machine and with the same XDG_STATE_HOME.",
      context: { sandbox_id: id },
    },
  );
}

function noPlace(id: string): GloveboxError {
  return new GloveboxError("UNSUPPORTED", `${id} does not belong to a session or an environment.`, {
    suggestion:
      "A program's own sandbox is removed with it: use a session or an environment to keep files and processes.",
    context: { sandbox_id: id },
  });
}

function notFound(id: string): GloveboxError {
  const shown = id.slice(0, 80);
  return new GloveboxError("NOT_FOUND", `You have no live sandbox ${JSON.stringify(shown)} here.`, {
    suggestion:
      "Take the sandbox_id of a result; the files and processes of a session or an environment are reached by its own id, too.",
    context: { sandbox_id: shown },
  });
}

/** What living processes of this user have recorded: quick, since no engine is asked. */
async function recordedSandboxes(platform: SandboxesNeeds, engineName?: string): Promise<readonly SandboxRow[]> {
  const records = await platform.records.list();
  const rows = await Promise.all(records.map((record) => recordedRow(platform, record)));
  return rows.filter(({ owner, engine }) => owner === "living" && (engineName ?? engine) === engine);
}

/** The id in the labels of its container. */
function labelOf({ id, startedAs }: SandboxRecord): string {
  return startedAs ?? id;
}

async function onEngine(
  platform: SandboxesNeeds,
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
  { leases }: SandboxesNeeds,
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
async function inAnotherProcess(platform: SandboxesNeeds, record: SandboxRecord): Promise<FoundSandbox> {
  const row = await recordedRow(platform, record);
  const remove = (): Promise<void> =>
    row.owner === "living" ? removeByOwner(platform, record) : platform.records.delete(record.id);
  return { row, startedAs: labelOf(record), isRecorded: true, remove };
}

async function recordedRow({ leases }: SandboxesNeeds, record: SandboxRecord): Promise<SandboxRow> {
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

/** False if its owner cannot be asked, or does not remove it. */
async function isRemovedByOwner(platform: SandboxesNeeds, record: SandboxRecord): Promise<boolean> {
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
async function removeByOwner(platform: SandboxesNeeds, { id, principal, peerAddress }: SandboxRecord): Promise<void> {
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

/** Everything of this user, with the principal's own names alone. */
async function nameable(
  { sandboxes, records }: Pick<SandboxesNeeds, "sandboxes" | "records">,
  principal: string,
): Promise<readonly Named[]> {
  const written = await records.list();
  const byId = new Map<string, Named>(
    written.map(({ id, name, principal: whose }) => [id, { id, name: whose === principal ? name : undefined }]),
  );
  for (const { id, name } of sandboxes.recordsOf(principal)) byId.set(id, { id, name });
  return [...byId.values()];
}

/** Its owner is alive but does not end it. */
function notRemoved(id: string): GloveboxError {
  return new GloveboxError("INTERNAL", `The process that owns ${id} did not remove it.`, {
    suggestion: "End that process; its sandboxes end with it.",
    context: { sandbox_id: id },
  });
}
