import path from "node:path";
import { LastFound } from "../base/last-found.ts";
import type { Logger } from "../base/logger.ts";
import type { Config, LoadedConfig } from "../config/config.ts";
import type { Host } from "../config/host/host.ts";
import { variableOf } from "../config/layers/environment-layer.ts";
import { loadMountPolicy } from "../config/mounts/load-mount-policy.ts";
import { Engines } from "../engines/choice/discover.ts";
import { engineTable } from "../engines/engine-table.ts";
import type { CallOperation } from "../operations/contract/operation-call.ts";
import type { GrantOf } from "../operations/contract/grant.ts";
import { handlers } from "../operations/handlers.ts";
import { operationCaller } from "../operations/handling/handler.ts";
import { observedCaller } from "../operations/handling/observed-caller.ts";
import type { PlatformParts } from "../operations/handling/platform-parts.ts";
import { createNotebookCode } from "../workloads/session/variables/notebook/make-notebook-code.ts";
import { findImports } from "../packages/imports/find-imports.ts";
import { KeptAnswers } from "../packages/imports/kept-answers.ts";
import { assertNetworkAllowed } from "../policy/network/network.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { TestReports } from "../store/test-reports.ts";
import type { AlertListener } from "../telemetry/alert.ts";
import { openMemory } from "../workloads/agent/memory/find-memory.ts";
import { createTypeScriptCompiler } from "../workloads/program/compile/typescript-compiler.ts";
import { openLargeScratch } from "../workloads/run/disk/open-large-scratch.ts";
import { closeParts, type ClosingParts } from "./close-parts.ts";
import { createEngineChooser, type Door } from "./engine-chooser.ts";
import { engineSurroundings } from "./engine-surroundings.ts";
import { openImages } from "./open-images.ts";
import { openLogs, type OpenedLogs } from "./open-logs.ts";
import { openNetwork } from "./open-network.ts";
import { openOwners } from "./open-owners.ts";
import { openPackages } from "./open-packages.ts";
import { openPlaces } from "./open-places.ts";
import { openSandboxes } from "./open-sandboxes.ts";
import { warmPoolBounds } from "./warm-pool-bounds.ts";
import { openTracing } from "./open-tracing.ts";
import { openTelemetryParts, type TelemetryParts } from "./open-telemetry-parts.ts";
import { stderrLogger } from "./stderr-logger.ts";

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

export type { SettledSessions } from "../operations/handling/engine-chooser.ts";
export type { Alert } from "../telemetry/alert.ts";

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

const now = (): number => Date.now();
const monotonicMs = (): number => performance.now();

/** The parts for handlers, and those that must be closed. */
interface OpenedParts {
  readonly parts: PlatformParts;
  readonly closing: ClosingParts;
}

async function openParts(options: PlatformOptions): Promise<OpenedParts> {
  const { config, loaded, host, door, defaultEngine, storeByDefault = false, onAlert } = options;
  const { prefersContainers = false, projectsSetting = projectsSettingOf[door] } = options;
  const tracing = openTracing(host, door, monotonicMs);
  const logger =
    options.logger ??
    stderrLogger({ least: config.logLevel, fieldsOfCall: () => tracing.logFields(), openLog: options.openLog });
  const findLive = (id: string): Sandbox | undefined => opened.findLive(id);
  // The user is the operator here, whatever keys exist; and requests to this process are not forwarded to others.
  const callHere: CallOperation = (...call) =>
    operationCaller(handlers, { ...parts, peers: null }, () => null)(...call);
  const owners = openOwners({ host, logger, now, callHere });
  const { owner, archives, diskScratch, leases, records, reaper, peerServer, peers, identity } = owners;
  const heldOwner = async (): Promise<string> => {
    // Without a writable home folder there is none, as for sandboxes.
    await leases.hold().catch((error: unknown) => logger.warn({ err: error }, "the lease could not be made"));
    return owner;
  };
  const engines = new Engines(engineTable, engineSurroundings(config, host, tracing, logger, heldOwner));
  const recorded = await openLogs({ config, host, owner, identity, storeByDefault, logger, now, monotonicMs });
  const { logs, store } = recorded;
  const telemetry = openTelemetryParts({
    ceilings: config.ceilings,
    ...{ logger, now, monotonicMs, tracing, onAlert },
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
  const opened = openSandboxes({ config, host, owners, ...watching, logger, now, monotonicMs, warmPool });
  const { admission, sandboxes, installers, pool } = opened;
  const { sessions, environments, previews, previewGateway, agentTurns } = openPlaces({
    ...{ config, host, owners, opened, telemetry, logger, now, monotonicMs },
  });
  const { egressProxies, network } = openNetwork({ config, host, door, ...telemetry, logger });
  const { packages, hostInstaller } = openPackages({ config, host, identity, installers, network, logger, now });
  const open = { sessions, environments, previews };
  const kept = { ...telemetry, ...open, engines, sandboxes, diskScratch, reaper, leases, logger, monotonicMs };
  const imports = { kept: new KeptAnswers(), executable: host.executable, platform: host.platform };
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
    testReports: new TestReports(store, now),
    lastFound: new LastFound({ maxAgeMs: lookEveryMs, now }),
    findMemory: openMemory({ ...host, folder: path.join(host.stateDirectory, "agents", "memory") }),
    agentDirectory: door === "server" ? null : host.workingDirectory,
    compileTypeScript,
    makeNotebookCode: createNotebookCode({ ...host, compile: compileTypeScript }),
    assertNetworkAllowed: (policy, field) => assertNetworkAllowed(policy, config.network, field),
    findImports: (input, { signal }) => findImports(input, { ...imports, signal }),
    packages,
    now,
    openLargeScratch: openLargeScratch({
      ...{ diskScratch, logger, now },
      platform: host.platform,
      executable: host.executable,
    }),
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
