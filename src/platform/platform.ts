import path from "node:path";
import { Kept, LastFound } from "../base/kept.ts";
import type { Kit } from "../base/kit.ts";
import type { Logger } from "../base/logger.ts";
import type { Config, LoadedConfig } from "../config/config.ts";
import type { Host } from "../config/host/host.ts";
import { variableOf } from "../config/setting-layers.ts";
import { loadMountPolicy } from "../config/load-mount-policy.ts";
import { Engines } from "../engines/discover.ts";
import { engineTable } from "../engines/engine-table.ts";
import type { CallOperation, GrantOf } from "../operations/contract/operation-contract.ts";
import { handlers, type HandlerNeeds } from "../operations/handlers.ts";
import { operationCaller, observedCaller } from "../operations/handler.ts";
import type { EngineChooser } from "../operations/settle.ts";
import type { PreviewGateway } from "../ingress/preview-gateway.ts";
import { createNotebookCode } from "../workloads/session/variables/make-notebook-code.ts";
import { findImports, keptAnswers } from "../packages/find-imports.ts";
import type { ImportedPackages } from "../packages/imported-packages.ts";
import { assertNetworkAllowed } from "../policy/network/network.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { TestReports } from "../store/test-reports.ts";
import type { AlertListener } from "../telemetry/alert-book.ts";
import { openMemory } from "../workloads/agent/find-memory.ts";
import { createTypeScriptCompiler } from "../workloads/program/typescript-compiler.ts";
import { openLargeScratch } from "../workloads/run/watched-scratch.ts";
import { createEngineChooser, engineSurroundings, openOwnState, type Door } from "./engine-chooser.ts";
import {
  openNetwork,
  openOwners,
  openPlaces,
  openSandboxes,
  warmPoolBounds,
  openPackages,
  type HostInstaller,
} from "./open-sandboxes.ts";
import { openTracing, openTelemetryParts, stderrLogger, type TelemetryParts } from "./open-telemetry.ts";
import { settlesWithin } from "../base/abort.ts";
import type { EgressProxies } from "../egress/egress-proxies.ts";
import type { PeerServer } from "../peers/peer-server.ts";
import type { Leases } from "../sandbox/owners/leases.ts";
import type { Reaper } from "../sandbox/owners/reaper.ts";
import type { WarmPool } from "../sandbox/warm-pool.ts";
import type { Sandboxes } from "../sandbox/sandboxes.ts";
import type { DiskScratch } from "../sandbox/disk-scratch.ts";
import type { WorkArchives } from "../sandbox/work-archives.ts";
import type { Sampler } from "../telemetry/sampler.ts";
import type { ServerMetrics } from "../telemetry/server-metrics.ts";
import type { Tracing } from "../telemetry/tracing.ts";
import type { Environments } from "../workloads/environment/environments.ts";
import type { Previews } from "../workloads/preview/previews.ts";
import type { Sessions } from "../workloads/session/sessions.ts";
import { bunArchives, expandHome } from "../config/host/host-paths.ts";
import { checkImageReference, isSameImage } from "../policy/image-reference.ts";
import { readRegistrySettings } from "../egress/registry-settings.ts";
import { defaultSessionImage } from "../policy/profile.ts";
import { AgentImages, agentOfImage } from "../workloads/agent/agent-image.ts";
import { ensureImage, type ProvideImage } from "../workloads/program/ensure-image.ts";
import { BaseImage, ToolsImage, type PythonIndexSettings } from "../workloads/session/session-images.ts";
import type { PumpState } from "../base/batch-pump.ts";
import { kibibyte, mebibyte } from "../base/bytes.ts";
import { GloveboxError } from "../errors/glovebox-error.ts";
import { isAlive, type ProcessIdentity } from "../sandbox/owners/process-identity.ts";
import type { SandboxObserver } from "../sandbox/sandbox-observer.ts";
import type { StorePlace } from "../store/database.ts";
import { RunRecorder, UsageRecorder } from "../store/recorders.ts";
import type { Store } from "../store/store.ts";
import { LogSink } from "../telemetry/log-sink.ts";
import { RedisPublisher } from "../telemetry/redis-publisher.ts";
import { SandboxLogs } from "../telemetry/sandbox-logs.ts";

export interface PlatformOptions {
  readonly config: Config;
  /** Where the configuration's values come from, for `doctor`. */
  readonly loaded?: LoadedConfig | undefined;
  readonly host: Host;
  readonly door: Door;
  /** Engine for requests that name none; default: the configuration's `container_runtime`. */
  readonly defaultEngine?: string | undefined;
  /** Whether sessions go to containers, if an engine has them and the configuration leaves it open; default false. */
  readonly prefersContainers?: boolean | undefined;
  /** Whether sandboxes may be started ahead of requests, if the configuration allows it; default true. */
  readonly keepsWarm?: boolean | undefined;
  /** What each principal may do; default: everything, as the user of this machine. */
  readonly grantOf?: GrantOf | undefined;
  /** Whether runs, logs, metrics and alerts are stored, if the configuration leaves it open; default false. */
  readonly storeByDefault?: boolean | undefined;
  /** The setting that lists folders for projects, as refusals name it; default: its environment variable. */
  readonly projectsSetting?: string | undefined;
  /** Receives every alert of every sandbox. */
  readonly onAlert?: AlertListener | undefined;
  /** Receives the log, at every level; default: stderr, at the configuration's level. */
  readonly logger?: Logger | undefined;
  /** Makes what writes the log on stderr, for its first line; default: one JSON object a line. */
  readonly openLog?: (() => Logger) | undefined;
}

export type { SettledSessions } from "../operations/settle.ts";
export type { Alert } from "../telemetry/alert-book.ts";

/** Everything that handlers and servers need of the platform, except closing it. */
interface PlatformParts extends HandlerNeeds, EngineChooser {
  /** The ways into previews, for the server that receives their requests. */
  readonly previewGateway: PreviewGateway;
  readonly serverMetrics: ServerMetrics;
  readonly tracing: Tracing;
}

/** Everything that lives as long as the process, created once and closed once. */
export interface Platform extends PlatformParts, AsyncDisposable {
  /** Runs operations. */
  readonly call: CallOperation;
  /** Ends the sessions and environments of a principal that no longer exists; its calls end by their own signals. */
  endPrincipal(principal: string): Promise<void>;
  /**
   * Ends the work, removes every sandbox and disconnects from the engines, within the time (default: 9 s) whatever they
   * do. Resolves to the ids of what may be left, which are also logged; calling it again waits for the same end.
   */
  close(withinMs?: number): Promise<readonly string[]>;
}

/** Leaves a second of the ten that a shutdown may take to the process itself. */
const closeWithinMs = 9_000;

/**
 * Assembles the parts; nothing is started or contacted yet. @throws INVALID_REQUEST if there is no engine of that name
 */
export async function createPlatform(options: PlatformOptions): Promise<Platform> {
  const { parts, closing } = await openParts(options);
  // What runs for long has all of them soon: an update may replace their files meanwhile. A failure is the call's to report.
  if (options.door !== "person") void Promise.allSettled([...handlers.values()].map((load) => load()));
  let closed: Promise<readonly string[]> | undefined;
  const close = (withinMs = closeWithinMs): Promise<readonly string[]> => (closed ??= closeParts(closing, withinMs));
  return {
    ...parts,
    call: observedCaller(operationCaller(handlers, parts, options.grantOf ?? (() => null)), parts),
    endPrincipal: async (principal) => {
      const { sessions, environments, previews } = parts;
      await Promise.all([sessions, environments, previews].map((places) => places.endAll(principal)));
      parts.sandboxes.setMaximum(principal, null);
    },
    close,
    [Symbol.asyncDispose]: async () => void (await close()),
  };
}

const projectsVariable = variableOf("project_roots");
const projectsSettingOf: Readonly<Record<Door, string>> = {
  person: `${projectsVariable} (project_roots in the configuration file)`,
  stdio: `${projectsVariable} in the environment of \`glovebox mcp\``,
  server: `${projectsVariable} in the environment of the server (project_roots in its configuration file)`,
};

/** How old a list of sandboxes may be that is answered at once. */
const lookEveryMs = 10_000;

/** The parts for handlers, and those that must be closed. */
interface OpenedParts {
  readonly parts: PlatformParts;
  readonly closing: ClosingParts;
}

async function openParts(options: PlatformOptions): Promise<OpenedParts> {
  const { config, loaded, host, door, defaultEngine, storeByDefault = false, onAlert } = options;
  const { prefersContainers = false, projectsSetting = projectsSettingOf[door] } = options;
  const { platform, executable } = host;
  const clock = { now: () => Date.now(), monotonicMs: () => performance.now() };
  const tracing = openTracing(host, door, clock.monotonicMs);
  const logger =
    options.logger ??
    stderrLogger({ least: config.logLevel, fieldsOfCall: () => tracing.logFields(), openLog: options.openLog });
  const kit: Kit = { ...clock, logger, platform, executable };
  const findLive = (id: string): Sandbox | undefined => opened.findLive(id);
  // The user is the operator here, whatever keys exist; and requests to this process are not forwarded to others.
  const callHere: CallOperation = (...call) =>
    operationCaller(handlers, { ...parts, peers: null }, () => null)(...call);
  const owners = openOwners({ host, kit, callHere });
  const { owner, archives, diskScratch, leases, records, reaper, peerServer, peers, identity } = owners;
  const heldOwner = async (): Promise<string> => {
    // Without a writable home folder there is none, as for sandboxes.
    await leases.hold().catch((error: unknown) => logger.warn({ err: error }, "the lease could not be made"));
    return owner;
  };
  const engines = new Engines(
    engineTable,
    engineSurroundings(config, host, { ...kit, tracer: tracing, owner: heldOwner }),
  );
  const recorded = await openLogs({ kit, config, host, owner, identity, storeByDefault });
  const { logs, store } = recorded;
  const telemetry = openTelemetryParts({
    ceilings: config.ceilings,
    ...{ kit, tracing, onAlert },
    waiting: () => admission.waiting,
    warmUse: () => pool?.use ?? {},
    droppedEntries: recorded.droppedEntries,
    sinks: () => recorded.sinkStates(),
    onSample: (...sampled) => recorded.usage?.sampled(...sampled),
  });
  recordAlerts(telemetry, recorded);
  const onWaiting = (): void => sessions.makeRoom();
  const observers = [...recorded.observers, ...telemetry.observers];
  const watching = { observers, installerObservers: telemetry.installerObservers, tracer: tracing, onWaiting };
  const warmPool = warmPoolBounds(options);
  const opened = openSandboxes({ kit, config, host, owners, ...watching, warmPool });
  const { admission, sandboxes, installers, pool } = opened;
  const { sessions, environments, previews, previewGateway, agentTurns } = openPlaces({
    ...{ kit, config, host, owners, opened, telemetry },
  });
  const { egressProxies, network } = openNetwork({ kit, config, host, door, ...telemetry });
  const { packages, hostInstaller } = openPackages({ kit, config, host, identity, installers, network });
  const open = { sessions, environments, previews };
  const kept = { ...telemetry, ...open, engines, sandboxes, diskScratch, reaper, leases, ...kit };
  const imports = { ...kit, kept: new Kept<ImportedPackages>(keptAnswers) };
  const compileTypeScript = createTypeScriptCompiler(host);
  const parts: PlatformParts = {
    ...kept,
    previewGateway,
    ...createEngineChooser({ config, host, door, defaultEngine, prefersContainers, engines, reaper, logger }),
    ...openImages(config, host, installers),
    config,
    loaded: loaded ?? null,
    defaultEngine,
    host,
    warm: pool && warmPool && { pool, maxAgeMs: warmPool.maxAgeMs, maxTimeoutMs: config.ceilings.timeoutMs },
    ...{ findLive, logs, store, records, peers, network, agentTurns },
    testReports: new TestReports(store, clock.now),
    lastFound: new LastFound({ maxAgeMs: lookEveryMs, now: clock.now }),
    findMemory: openMemory({ ...host, folder: path.join(host.stateDirectory, "agents", "memory") }),
    agentDirectory: door === "server" ? null : host.workingDirectory,
    compileTypeScript,
    makeNotebookCode: createNotebookCode({ ...host, compile: compileTypeScript }),
    assertNetworkAllowed: (policy, field) => assertNetworkAllowed(policy, config.network, field),
    findImports: (input, { signal }) => findImports(input, { ...imports, signal }),
    packages,
    openLargeScratch: openLargeScratch({ ...kit, diskScratch }),
    loadMountPolicy: () =>
      loadMountPolicy({ config, host, workingDirectoryIsRoot: door !== "server", projectsSetting }),
  };
  return {
    parts,
    closing: { ...kept, pool, peerServer, installers, archives, egressProxies, hostInstaller, logs: recorded },
  };
}

/** Alerts go to the log of their sandbox and to the store. */
function recordAlerts({ alertBook }: TelemetryParts, { logs, usage }: OpenedLogs): void {
  alertBook.listen((alert, principal) => {
    logs.alertTold(alert);
    usage?.alertTold(alert, principal);
  });
}

interface ClosingParts extends Kit {
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
async function closeParts(parts: ClosingParts, withinMs: number): Promise<readonly string[]> {
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

interface OpenedImages {
  readonly baseImage: BaseImage;
  readonly agentImages: AgentImages;
  /** Pulls an image, or builds it if it is one of our own, if the engine does not have it. */
  readonly provideImage: ProvideImage;
  /** Whose callers may name any image. @throws INVALID_REQUEST */
  readonly checkImage: (reference: string, field?: string) => string;
}

/** Nothing is pulled or built yet; builds run in sandboxes of `installers`. */
function openImages(config: Config, host: Host, installers: Sandboxes): OpenedImages {
  const { temporaryDirectory, platform, environment } = host;
  const fetching = { sandboxes: installers, temporaryDirectory, platform, environment, bunArchives: bunArchives(host) };
  const baseImage = new BaseImage({ ...fetching, base: config.sessionBaseImage });
  const agentImages = new AgentImages({ ...fetching, base: config.agents.imageBase });
  const toolsImage = new ToolsImage({
    images: config.toolsImages,
    sessionImage: config.images.session,
    pythonIndex: () => openPythonIndex({ environment, platform }),
  });
  const listed = [
    ...new Set([
      ...Object.values(config.images),
      ...config.allowedImages,
      ...config.templates.map(({ image }) => image),
    ]),
  ];
  const provideImage: ProvideImage = async (needed, engine, { signal, onPull, onBuild }) => {
    const agent = agentOfImage(needed.image);
    const recipe = toolsImage.recipeOf(needed.image);
    const isOwn = isSameImage(needed.image, defaultSessionImage) || recipe !== null || agent !== null;
    if (!isOwn || !(await engine.capabilities({ signal })).images) {
      return ensureImage(needed, engine, { signal, onPull, listed });
    }
    if (await engine.images.has(needed.image, { signal })) return;
    const listener = { onPull, onBuild };
    if (recipe !== null) {
      await provideImage({ image: toolsImage.baseOf(recipe), origin: "configured" }, engine, { signal, ...listener });
      await toolsImage.build(engine, recipe, { listener, signal });
    } else if (agent === null) await baseImage.build(engine, listener, signal);
    else await agentImages.build(engine, agent, { listener, signal });
  };
  return { baseImage, agentImages, provideImage, checkImage: checkImageReference };
}

/** What pip asks and trusts on this machine; an index that needs a password is left out. */
async function openPythonIndex(host: Pick<Host, "environment" | "platform">): Promise<PythonIndexSettings> {
  const { registries, pythonCertificates } = await readRegistrySettings(host);
  const url = registries.find(({ kind }) => kind === "python")?.url ?? null;
  const isOpen = url !== null && URL.canParse(url) && new URL(url).username === "";
  return { url: isOpen ? url : null, certificates: pythonCertificates };
}

interface OpenLogsOptions {
  readonly kit: Kit;
  readonly config: Config;
  readonly host: Host;
  /** Identity of this server and its process. */
  readonly owner: string;
  readonly identity: ProcessIdentity;
  /** Whether there is a store, if the configuration leaves it open. */
  readonly storeByDefault: boolean;
}

/** What observes sandboxes, and where its records go. */
interface OpenedLogs {
  readonly logs: SandboxLogs;
  /** Null: nothing is stored. */
  readonly store: Store | null;
  readonly observers: readonly SandboxObserver[];
  /** Where samples and alerts are stored; null: nowhere. */
  readonly usage: UsageRecorder | null;
  /** Log entries that were dropped, by where. */
  readonly droppedEntries: () => Readonly<Record<string, number>>;
  /** State of the queues to the store and to Redis. */
  sinkStates(): Readonly<Record<string, PumpState>>;
  /** Flushes, within the time. */
  close(withinMs: number): Promise<void>;
}

const redisQueue = { maxBytes: 8 * mebibyte, batchItems: 500, batchBytes: 128 * kibibyte } as const;

/** Opens the log of every sandbox with its sinks; a store is opened in the background. @throws INVALID_REQUEST */
async function openLogs(options: OpenLogsOptions): Promise<OpenedLogs> {
  const { config, kit } = options;
  const { logger, now, monotonicMs } = kit;
  const store = await openStore(options);
  const publisher = config.redisUrl === null ? null : new RedisPublisher(config.redisUrl, logger);
  const redis =
    publisher &&
    new LogSink({
      ...redisQueue,
      name: "log entries for Redis",
      write: (blocks) => publisher.publish(blocks),
      logger,
      now,
    });
  const sinks = [store?.entries ?? [], redis ?? []].flat();
  const logs = new SandboxLogs({ sinks, now, monotonicMs });
  const recorder = store && new RunRecorder(store, options.owner, (sandbox) => logs.find(sandbox)?.nextOffset ?? null);
  return {
    logs,
    store,
    observers: [recorder ?? [], logs].flat(),
    usage: store && new UsageRecorder(store),
    droppedEntries: () => ({
      pace: logs.tooFast,
      ...(store === null ? {} : { store: store.state.entries.dropped }),
      ...(redis === null ? {} : { redis: redis.state.dropped }),
    }),
    sinkStates: () => ({
      ...(store && { store_entries: store.state.entries, store_records: store.state.records }),
      ...(redis && { redis: redis.state }),
    }),
    close: async (withinMs) => {
      await Promise.all([store?.close(withinMs), redis?.close(withinMs)]);
      publisher?.close();
    },
  };
}

async function openStore({
  config,
  host,
  owner,
  identity,
  storeByDefault,
  kit,
}: OpenLogsOptions): Promise<Store | null> {
  const place = storePlace(config.store, host, storeByDefault);
  if (place === null) return null;
  // Most commands have none, and a good part of all code is the database's.
  const { Store } = await import("../store/store.ts");
  const store = new Store({
    place,
    prepare: () => openOwnState(host),
    retention: config.store,
    maxRunBytes: config.maxOutputBytes,
    server: { id: owner, identity, isAlive: (other) => livesHere(other, identity) },
    ...kit,
  });
  store.start();
  return store;
}

/** What another server has written about its process is not assumed to have any particular form. */
function livesHere(other: unknown, own: ProcessIdentity): boolean | null {
  if (typeof other !== "object" || other === null || !("machine" in other) || !("pid" in other)) return null;
  return typeof other.pid === "number" && Number.isSafeInteger(other.pid) && other.pid > 0
    ? isAlive(other as ProcessIdentity, own)
    : null;
}

/** Null: no store. @throws INVALID_REQUEST if PostgreSQL is chosen without a URL */
function storePlace({ kind, file, url }: Config["store"], host: Host, byDefault: boolean): StorePlace | null {
  if (kind === "off" || (kind === "auto" && !byDefault)) return null;
  if (kind !== "postgres") {
    const own = path.join(host.stateDirectory, "store.db");
    return { kind: "sqlite", file: file === null ? own : expandHome(file, host.homeDirectory) };
  }
  if (url !== null) return { kind, url };
  throw new GloveboxError("INVALID_REQUEST", 'store.kind is "postgres", but store.url is not set.', {
    suggestion:
      "Set store.url (GLOVEBOX_STORE_URL) to the URL of the database, or store.kind (GLOVEBOX_STORE) to sqlite.",
    context: { field: "store.url" },
  });
}
