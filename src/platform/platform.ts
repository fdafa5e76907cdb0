import path from "node:path";
import pino from "pino";
import { createId } from "../base/id.ts";
import type { Config, LoadedConfig } from "../config/config.ts";
import type { Host } from "../config/host/host.ts";
import { doorFolder } from "../config/host/door-folder.ts";
import { expandHome } from "../config/mounts/expand-home.ts";
import { loadMountPolicy } from "../config/mounts/load-mount-policy.ts";
import { EgressProxies } from "../egress/egress-proxies.ts";
import { NetworkAccess } from "../egress/network-access.ts";
import { readRegistrySettings } from "../egress/registries/registry-settings.ts";
import { Engines } from "../engines/discover.ts";
import { findImports } from "../packages/imports/find-imports.ts";
import { installerLimits } from "../packages/install/installer-plan.ts";
import { Packages } from "../packages/packages.ts";
import { defaultSessionImage } from "../policy/session-profile.ts";
import { Admission } from "../sandbox/admission.ts";
import { PeerServer } from "../sandbox/peers/peer-server.ts";
import { Leases } from "../sandbox/owners/leases.ts";
import { identityOf } from "../sandbox/owners/process-identity.ts";
import { Reaper } from "../sandbox/owners/reaper.ts";
import { SandboxRecords } from "../sandbox/owners/sandbox-records.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { Sandboxes } from "../sandbox/sandboxes.ts";
import { WorkArchives } from "../sandbox/work-archives.ts";
import type { Alert, AlertListener } from "../telemetry/alert.ts";
import { NetworkAlerts } from "../telemetry/network-alerts.ts";
import { SetuidAlerts } from "../telemetry/setuid-alerts.ts";
import { ToolingAlerts } from "../telemetry/tooling-alerts.ts";
import type { CallOperation } from "../operations/contract/operation-call.ts";
import { handlers } from "../operations/handlers.ts";
import { operationCaller } from "../operations/handling/handler.ts";
import type { PlatformParts } from "../operations/handling/platform-parts.ts";
import { Environments } from "../workloads/environment/environments.ts";
import { ensureImage } from "../workloads/program/ensure-image.ts";
import { BaseImage } from "../workloads/session/base-image/base-image.ts";
import { Sessions } from "../workloads/session/sessions.ts";
import { createTypeScriptCompiler } from "../workloads/program/compile/typescript-compiler.ts";
import { closeParts } from "./close-parts.ts";
import { createEngineChooser, type Door } from "./engine-chooser.ts";
import { engineTable } from "../engines/engine-table.ts";
import { engineSurroundings } from "./engine-surroundings.ts";
import { HostInstaller } from "./host-installer.ts";

export interface PlatformOptions {
  readonly config: Config;
  /** Where its values come from, for `doctor`. */
  readonly loaded?: LoadedConfig | undefined;
  readonly host: Host;
  readonly door: Door;
  /** Engine of requests that name none; default: the configuration's `container_runtime`. */
  readonly defaultEngine?: string | undefined;
  /** Receives every alert of every sandbox. */
  readonly onAlert?: AlertListener | undefined;
}

export type { Alert } from "../telemetry/alert.ts";

/** Everything that lives as long as the process does, made once and closed once. */
export interface Platform extends PlatformParts, AsyncDisposable {
  /** Does what an operation asks for. */
  readonly call: CallOperation;
  /**
   * Ends the work, removes every sandbox and lets go of the engines, within the time (default: 9 s) whatever they do.
   * Resolves to the ids of what may be left, which is in the log; calling it again waits for the same end.
   */
  close(withinMs?: number): Promise<readonly string[]>;
}

/** Leaves a second of the ten that a shutdown may take to the process itself. */
const closeWithinMs = 9_000;

/** How long a principal's egress proxy is kept that no sandbox uses. */
const proxyIdleMs = 300_000;

/** Installations at once; further ones wait. */
const maxInstallers = 4;

/** Puts the parts together; nothing is started or asked yet. @throws INVALID_REQUEST when there is no engine of that name */
export function createPlatform({ config, loaded, host, door, defaultEngine, onAlert }: PlatformOptions): Platform {
  // To stderr: stdout belongs to programs and protocols.
  const logger = pino({ name: "glovebox", level: config.logLevel }, pino.destination({ dest: 2, sync: true }));
  const engines = new Engines(engineTable, engineSurroundings(config, host));
  const owner = createId("own");
  const now = (): number => Date.now();
  const identity = identityOf(host.pid, host.hostName);
  const leases = new Leases({
    folder: path.join(host.stateDirectory, "leases"),
    uid: host.uid,
    owner,
    identity,
    logger,
    now,
    uptimeMs: host.uptimeMs,
  });
  const records = new SandboxRecords(path.join(host.stateDirectory, "sandboxes"), host.uid);
  const archives = new WorkArchives({
    folder: path.join(host.stateDirectory, "sessions"),
    uid: host.uid,
    owner,
    leases,
  });
  const peerServer = new PeerServer({
    folder: doorFolder(host),
    owner,
    uid: host.uid,
    platform: host.platform,
    leases,
    find: (id) => findLive(id),
    logger,
  });
  const reaper = new Reaper({ leases, records, archives, door: peerServer, logger, now });
  const { queue, maxContainers: maxSandboxes } = config;
  const openAdmission = (most: number, onWaiting?: () => void): Admission =>
    new Admission({ maxSandboxes: most, queueLimit: queue.limit, queueTimeoutMs: queue.timeoutMs, onWaiting });
  const openSandboxes = (admission: Admission): Sandboxes =>
    new Sandboxes({ admission, leases, records, door: peerServer, platform: host.platform, owner, logger, now });
  const admission = openAdmission(maxSandboxes, () => sessions.makeRoom());
  const sessions = new Sessions({
    archives,
    idleMs: config.session.idleTimeoutMs,
    waiting: () => admission.waiting,
    logger,
    now,
  });
  const sandboxes = openSandboxes(admission);
  // Installers take no place of a run's.
  const installers = openSandboxes(openAdmission(maxInstallers));
  const findLive = (id: string): Sandbox | undefined => sandboxes.find(id) ?? installers.find(id);
  const tellAlert = (alert: Alert): void => {
    logger.info({ alert }, "alert");
    try {
      onAlert?.(alert);
    } catch (error) {
      logger.warn({ err: error }, "the listener of alerts failed");
    }
  };
  const setuidAlerts = new SetuidAlerts(tellAlert, now);
  const toolingAlerts = new ToolingAlerts(tellAlert, now);
  const egressProxies = new EgressProxies({
    idleMs: proxyIdleMs,
    platform: host.platform,
    node: { executable: host.executable, flags: host.nodeFlags },
    temporaryDirectory: host.temporaryDirectory,
    environment: host.environment,
    dnsServers: config.network.dnsServers,
    hostAddresses: config.network.hostAddresses,
    logger,
    // Who sits before the command line is told by it.
    refusalLevel: door === "server" ? "warn" : "info",
    refusals: new NetworkAlerts(tellAlert, now),
  });
  const network = new NetworkAccess({
    proxies: egressProxies,
    readRegistries: () => readRegistrySettings(host),
    privateHosts: config.network.privateHosts,
    maxBytes: config.network.maxBytes,
  });
  const hostInstaller = config.packages.installAtPreload ? new HostInstaller(config, host) : null;
  const packages = new Packages({
    folder: expandHome(config.packages.directory, host.homeDirectory),
    maxBytes: config.packages.maxBytes,
    sandboxes: installers,
    network,
    configuredImages: Object.values(config.images),
    onHost: hostInstaller,
    limits: installerLimits(config.ceilings),
    uid: host.uid,
    identity,
    logger,
    now,
  });
  const baseImage = new BaseImage({
    base: config.sessionBaseImage,
    sandboxes: installers,
    temporaryDirectory: host.temporaryDirectory,
    platform: host.platform,
    environment: host.environment,
  });
  const engineChooser = createEngineChooser({ config, host, door, defaultEngine, engines, reaper, logger });
  const environments = new Environments({ idleMs: config.environmentIdleMs, logger });
  const monotonicMs = (): number => performance.now();
  const closing = {
    peerServer,
    environments,
    sessions,
    sandboxes,
    installers,
    archives,
    egressProxies,
    reaper,
    hostInstaller,
    engines,
    leases,
  };
  let closed: Promise<readonly string[]> | undefined;
  const close = (withinMs = closeWithinMs): Promise<readonly string[]> =>
    (closed ??= closeParts({ ...closing, logger, monotonicMs }, withinMs));
  const parts: PlatformParts = {
    config,
    loaded: loaded ?? null,
    defaultEngine,
    host,
    engines,
    sandboxes,
    findLive,
    sessions,
    records,
    leases,
    reaper,
    logger,
    ...engineChooser,
    compileTypeScript: createTypeScriptCompiler(host),
    network,
    baseImage,
    provideImage: async (needed, engine, { signal, onPull, onBuild }) => {
      const isOwn = needed.image === defaultSessionImage && (await engine.capabilities({ signal })).images;
      if (!isOwn) return ensureImage(needed, engine, { signal, onPull });
      if (!(await engine.images.has(needed.image, { signal })))
        await baseImage.build(engine, { onPull, onBuild }, signal);
    },
    findImports: (input, { signal }) =>
      findImports(input, { signal, executable: host.executable, platform: host.platform }),
    packages,
    environments,
    setuidAlerts,
    toolingAlerts,
    monotonicMs,
    now,
    loadMountPolicy: () => loadMountPolicy({ config, host, workingDirectoryIsRoot: door !== "server" }),
  };
  return {
    ...parts,
    call: operationCaller(handlers, parts),
    close,
    [Symbol.asyncDispose]: async () => void (await close()),
  };
}
