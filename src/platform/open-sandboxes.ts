import path from "node:path";
import { createId } from "../base/id.ts";
import { peerFolder, expandHome } from "../config/host/host-paths.ts";
import type { Host } from "../config/host/host.ts";
import type { CallOperation } from "../operations/contract/operation-contract.ts";
import { PeerFolder } from "../peers/peer-folder.ts";
import { PeerServer } from "../peers/peer-server.ts";
import { Peers } from "../peers/peers.ts";
import { Leases } from "../sandbox/owners/leases.ts";
import { identityOf, type ProcessIdentity } from "../sandbox/owners/process-identity.ts";
import { Reaper } from "../sandbox/owners/reaper.ts";
import { SandboxRecords } from "../sandbox/owners/sandbox-records.ts";
import { DiskScratch } from "../sandbox/disk-scratch.ts";
import { WorkArchives } from "../sandbox/work-archives.ts";
import type { Kit } from "../base/kit.ts";
import type { Tracer } from "../base/tracer.ts";
import type { Config } from "../config/config.ts";
import { Admission } from "../sandbox/admission.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { SandboxObserver } from "../sandbox/sandbox-observer.ts";
import { WarmPool, type WarmPoolBounds } from "../sandbox/warm-pool.ts";
import { Sandboxes } from "../sandbox/sandboxes.ts";
import { knownAccessToken } from "../config/server-access.ts";
import { PreviewGateway } from "../ingress/preview-gateway.ts";
import { AgentTurns } from "../workloads/agent/agent-turns.ts";
import { Environments } from "../workloads/environment/environments.ts";
import { Previews } from "../workloads/preview/previews.ts";
import { Sessions } from "../workloads/session/sessions.ts";
import type { TelemetryParts } from "./open-telemetry.ts";
import { engineSurroundings, type Door } from "./engine-chooser.ts";
import { EgressProxies } from "../egress/egress-proxies.ts";
import { NetworkAccess } from "../egress/network-access.ts";
import { readRegistrySettings, registryVariables } from "../egress/registry-settings.ts";
import type { Traffic } from "../egress/egress-connection.ts";
import type { AlertSink } from "../base/alert-sink.ts";
import type { Denial } from "../policy/network/denial.ts";
import type { Engine } from "../engines/engine.ts";
import { Packages, type HostInstalling } from "../packages/packages.ts";
import { openInstaller } from "../engines/engine-table.ts";
import { guardEngine } from "../engines/guarded-engine.ts";
import { installerLimits } from "../packages/find-installer.ts";

/** Who owns the sandboxes, and what other processes of this user can see of that. */
interface Owners {
  /** Id of this process as an owner of sandboxes. */
  readonly owner: string;
  readonly identity: ProcessIdentity;
  readonly leases: Leases;
  readonly records: SandboxRecords;
  readonly archives: WorkArchives;
  readonly diskScratch: DiskScratch;
  readonly peerServer: PeerServer;
  readonly peers: Peers;
  readonly reaper: Reaper;
  /** Engines' names, by ids of sandboxes that ended but could not be removed; the reaper removes them later. */
  readonly stranded: Map<string, string>;
}

interface OwnersOptions {
  readonly kit: Kit;
  readonly host: Host;
  /** Requests of the user's other processes to this one. */
  readonly callHere: CallOperation;
}

/** Nothing is written or removed yet. */
export function openOwners({ host, kit, callHere }: OwnersOptions): Owners {
  const { logger, now } = kit;
  const { uid, platform, stateDirectory, uptimeMs } = host;
  const owner = createId("own");
  const identity = identityOf(host.pid, host.hostName);
  const leases = new Leases({
    folder: path.join(stateDirectory, "leases"),
    uid,
    owner,
    identity,
    logger,
    now,
    uptimeMs,
  });
  const records = new SandboxRecords(path.join(stateDirectory, "sandboxes"), uid);
  const archives = new WorkArchives({ folder: path.join(stateDirectory, "sessions"), uid, owner, leases, logger });
  const scratchFolder = path.join(stateDirectory, "scratch");
  const diskScratch = new DiskScratch({ folder: scratchFolder, uid, platform, owner, leases });
  const folder = new PeerFolder({ folder: peerFolder(host), owner, uid, platform, leases });
  const peerServer = new PeerServer({ folder, platform, call: callHere, logger });
  const stranded = new Map<string, string>();
  const reaper = new Reaper({ leases, records, archives, diskScratch, peerFolder: folder, stranded, logger, now });
  return {
    owner,
    identity,
    leases,
    records,
    archives,
    diskScratch,
    peerServer,
    peers: new Peers(folder),
    reaper,
    stranded,
  };
}

interface OpenedSandboxes {
  readonly admission: Admission;
  readonly sandboxes: Sandboxes;
  /** Where packages are installed and images built; they take no run's slot. */
  readonly installers: Sandboxes;
  /** Null: none is made before anybody asks. */
  readonly pool: WarmPool | null;
  /** A live sandbox of this process, whatever it is for. */
  readonly findLive: (id: string) => Sandbox | undefined;
}

interface SandboxesOptions {
  readonly kit: Kit;
  readonly config: Config;
  readonly host: Host;
  readonly owners: Owners;
  /** Observes the sandboxes of runs, and those of installers. */
  readonly observers: readonly SandboxObserver[];
  readonly installerObservers: readonly SandboxObserver[];
  readonly tracer: Tracer;
  /** Null: none is made before anybody asks. */
  readonly warmPool: WarmPoolBounds | null;
  /** Called when a run starts to wait for a slot. */
  readonly onWaiting: () => void;
}

/** Maximum concurrent installations; further ones wait. */
const maxInstallers = 4;
/** How many sandboxes start at once on an engine where there are fewer processors: a start also waits, for the disk and others. */
const minStarts = 2;

export function openSandboxes(options: SandboxesOptions): OpenedSandboxes {
  const { config, host, owners, observers, tracer, kit, onWaiting, warmPool } = options;
  const { owner, leases, records, peerServer, stranded } = owners;
  const { queue, maxContainers } = config;
  const openAdmission = (maxSandboxes: number, onWait?: () => void): Admission =>
    new Admission({ maxSandboxes, queueLimit: queue.limit, queueTimeoutMs: queue.timeoutMs, onWaiting: onWait });
  const startsAtOnce = Math.max(minStarts, host.processors);
  const shared = { leases, records, peerServer, stranded, startsAtOnce, owner, tracer, ...kit };
  const admission = openAdmission(maxContainers, onWaiting);
  const sandboxes = new Sandboxes({ ...shared, admission, observers });
  const installers = new Sandboxes({
    ...shared,
    admission: openAdmission(maxInstallers),
    observers: options.installerObservers,
  });
  const { availableMemoryBytes, processors } = host;
  const waiting = { ...kit, sandboxes, admission, availableMemoryBytes, processors };
  const pool = warmPool === null ? null : new WarmPool({ ...waiting, bounds: warmPool });
  return { admission, sandboxes, installers, pool, findLive: (id) => sandboxes.find(id) ?? installers.find(id) };
}

/** What persists between calls. */
interface OpenedPlaces {
  readonly sessions: Sessions;
  readonly environments: Environments;
  readonly previews: Previews;
  readonly previewGateway: PreviewGateway;
  readonly agentTurns: AgentTurns;
}

interface PlacesOptions {
  readonly kit: Kit;
  readonly config: Config;
  readonly host: Host;
  readonly owners: Owners;
  readonly opened: OpenedSandboxes;
  readonly telemetry: TelemetryParts;
}

/** Nothing is started yet. */
export function openPlaces(options: PlacesOptions): OpenedPlaces {
  const { config, host, owners, opened, telemetry, kit } = options;
  const { archives, diskScratch } = owners;
  const { admission, sandboxes } = opened;
  const idleMs = config.session.idleTimeoutMs;
  const waiting = (principal: string): number => admission.waitingFor(principal);
  const previewGateway = new PreviewGateway({ ...config.preview, readToken: () => knownAccessToken(host) });
  return {
    sessions: new Sessions({ ...kit, archives, idleMs, waiting }),
    environments: new Environments({ idleMs: config.environmentIdleMs, logger: kit.logger }),
    previews: new Previews({
      ...{ ...kit, sandboxes, gateway: previewGateway, alerts: telemetry.previewAlerts, diskScratch },
      maxOutputBytes: config.maxOutputBytes,
    }),
    previewGateway,
    agentTurns: new AgentTurns({
      folder: path.join(host.stateDirectory, "agents"),
      uid: host.uid,
      maxWaiting: config.queue.limit,
    }),
  };
}

/** Front end whose sandboxes may be started ahead. */
interface WarmDoor {
  readonly config: Pick<Config, "warmPool">;
  readonly door: Door;
  /** As in `PlatformOptions`. */
  readonly keepsWarm?: boolean | undefined;
}

/** The limits of a front end's warm sandboxes; null: it has none. */
export function warmPoolBounds({ config, door, keepsWarm = true }: WarmDoor): WarmPoolBounds | null {
  const { mode, min, max, ...rest } = config.warmPool;
  const isOn = mode === "on" || (mode === "auto" && door !== "person");
  if (!isOn || !keepsWarm || max === 0) return null;
  return { ...rest, max, min: Math.min(max, min ?? (door === "server" ? 1 : 0)) };
}

interface OpenedNetwork {
  readonly egressProxies: EgressProxies;
  readonly network: NetworkAccess;
}

interface NetworkOptions {
  readonly config: Config;
  readonly host: Host;
  readonly door: Door;
  readonly networkAlerts: AlertSink<Denial>;
  readonly traffic: Traffic;
  readonly kit: Kit;
}

/** How long a principal's egress proxy is kept while no sandbox uses it. */
const proxyIdleMs = 300_000;

/** No proxy runs before a sandbox needs one. */
export function openNetwork({ config, host, door, networkAlerts, traffic, kit }: NetworkOptions): OpenedNetwork {
  const { logger, platform, executable } = kit;
  const { upstreamProxy } = config;
  const isFaulty = upstreamProxy !== null && "fault" in upstreamProxy;
  const egressProxies = new EgressProxies({
    idleMs: proxyIdleMs,
    platform,
    node: { executable, flags: host.nodeFlags },
    temporaryDirectory: host.temporaryDirectory,
    environment: host.environment,
    dnsServers: config.network.dnsServers,
    hostAddresses: config.network.hostAddresses,
    upstream: isFaulty ? null : upstreamProxy,
    logger,
    // Users of the command line are told by the command itself.
    refusalLevel: door === "server" ? "warn" : "info",
    refusals: networkAlerts,
    traffic,
  });
  const network = new NetworkAccess({
    proxies: egressProxies,
    readRegistries: () => readRegistrySettings(host),
    privateHosts: config.network.privateHosts,
    maxBytes: config.network.maxBytes,
    upstreamFault: isFaulty ? upstreamProxy : null,
  });
  return { egressProxies, network };
}

/** Variables with which the tools find the network's proxy and the trusted certificates. */
const networkVariables = [
  ...["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "no_proxy", "NO_PROXY"],
  "NODE_EXTRA_CA_CERTS",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "PIP_CERT",
  "REQUESTS_CA_BUNDLE",
  "CURL_CA_BUNDLE",
];

/** Installs on this machine itself, if the operator allows it; the engine is created when first needed. */
export class HostInstaller implements HostInstalling {
  readonly #config: Config;
  readonly #host: Host;
  #engine: Promise<Engine> | undefined;

  constructor(config: Config, host: Host) {
    this.#config = config;
    this.#host = host;
  }

  engine(): Promise<Engine> {
    this.#engine ??= openInstaller(engineSurroundings(this.#config, this.#host)).then((engine) => guardEngine(engine));
    return this.#engine;
  }

  async registries(): ReturnType<HostInstalling["registries"]> {
    const { registries, problems } = await readRegistrySettings(this.#host);
    const own = networkVariables.flatMap((name) => {
      const value = this.#host.environment[name];
      return value === undefined ? [] : [[name, value] as const];
    });
    return { environment: { ...Object.fromEntries(own), ...registryVariables(registries) }, problems };
  }

  async close(): Promise<void> {
    await (await this.#engine)?.close();
  }
}

interface OpenedPackages {
  readonly packages: Packages;
  /** Null if nothing is installed on this machine itself. */
  readonly hostInstaller: HostInstaller | null;
}

interface PackagesOptions {
  readonly kit: Kit;
  readonly config: Config;
  readonly host: Host;
  readonly identity: ProcessIdentity;
  /** Where packages are installed. */
  readonly installers: Sandboxes;
  readonly network: NetworkAccess;
}

/** Nothing is installed and no cache is opened yet. */
export function openPackages(options: PackagesOptions): OpenedPackages {
  const { config, host, identity, installers, network, kit } = options;
  const { logger, now } = kit;
  const hostInstaller = config.packages.installAtPreload ? new HostInstaller(config, host) : null;
  const packages = new Packages({
    folder: expandHome(config.packages.directory, host.homeDirectory),
    maxBytes: config.packages.maxBytes,
    sandboxes: installers,
    network,
    configuredImages: [...Object.values(config.images), ...config.templates.map(({ image }) => image)],
    onHost: hostInstaller,
    policy: config.packages.policy,
    limits: installerLimits(config.ceilings),
    uid: host.uid,
    identity,
    logger,
    now,
  });
  return { packages, hostInstaller };
}
