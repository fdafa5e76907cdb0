import type { Tracer } from "../base/tracer.ts";
import type { Config } from "../config/config.ts";
import type { Host } from "../config/host/host.ts";
import { Admission } from "../sandbox/admission.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { SandboxObserver } from "../sandbox/sandbox-observer.ts";
import { WarmPool, type WarmPoolBounds } from "../sandbox/warm-pool.ts";
import { Sandboxes } from "../sandbox/sandboxes.ts";
import type { Owners } from "./open-owners.ts";
import type { Kit } from "../base/kit.ts";

export interface OpenedSandboxes {
  readonly admission: Admission;
  readonly sandboxes: Sandboxes;
  /** Where packages are installed and images built; they take no run's slot. */
  readonly installers: Sandboxes;
  /** Null: none is made before anybody asks. */
  readonly pool: WarmPool | null;
  /** A live sandbox of this process, whatever it is for. */
  readonly findLive: (id: string) => Sandbox | undefined;
}

export interface SandboxesOptions {
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
