import { throwIfCancelled, untilCancelled } from "../../base/abort.ts";
import { GloveboxError } from "../../errors/glovebox-error.ts";
import type { Capabilities } from "../capabilities.ts";
import type { ContainerSpec } from "../container-spec.ts";
import type { CallOptions, Container, ContainerSummary, Engine, EngineProbe, ImageStore } from "../engine.ts";
import { Cgroups } from "./cgroups/cgroups.ts";
import type { ContainerGroup } from "./cgroups/container-group.ts";
import { openContainerNamespace } from "./bubblewrap/namespaces/container-namespace.ts";
import { hostUids } from "./host-uids.ts";
import { createLeveledEngine } from "./leveled-engine.ts";
import { localCapabilities } from "./bubblewrap/local-capabilities.ts";
import { LocalContainer } from "./local-container.ts";
import type { LocalEngineOptions } from "./local-engine-options.ts";
import { explainFailure, openLocalHost, type LocalHost } from "./bubblewrap/local-host.ts";
import { lostError } from "./local-process.ts";
import { localComponents, localSetup } from "./bubblewrap/local-setup.ts";
import { checkContainerSpec, parseProcessUser, sharedMemoryBytes } from "./local-spec.ts";
import { nameTaken } from "./name-taken.ts";
import { onlyTheHost } from "./only-the-host.ts";
import { createPreloadEngine } from "./preload/preload-engine.ts";
import { runTrial } from "./bubblewrap/trial.ts";

/**
 * The embedded engine (SPEC RT5): no daemon and no image, only the host's own system, at the level that is asked for or
 * the best that the host lets it reach. Its containers live in this process: they end with it, and `close` removes them.
 */
export function createLocalEngine(options: LocalEngineOptions): Engine {
  const namespaces = (): Engine => new NamespacesEngine(options);
  const preload = (reason: string, fix?: string): Engine => createPreloadEngine({ ...options, reason, fix });
  switch (options.level ?? "auto") {
    case "namespaces":
      return namespaces();
    case "preload":
      return preload("This level was asked for.");
    case "auto":
      return createLeveledEngine({ namespaces: namespaces(), preload });
  }
}

interface Entry {
  readonly container: LocalContainer;
  readonly labels: Readonly<Record<string, string>>;
  readonly createdAtMs: number;
}

/** Level `namespaces`: bubblewrap, and the system read-only. */
class NamespacesEngine implements Engine {
  readonly name = "local";
  readonly images: ImageStore = onlyTheHost(async ({ signal }) => (await this.#open(signal)).interpreterPaths);
  readonly #options: LocalEngineOptions;
  readonly #entries = new Map<string, Entry>();
  /** Names of containers that are being made. */
  readonly #reserved = new Set<string>();
  readonly #hostUids = new Set<number>();
  #host: Promise<LocalHost> | undefined;

  constructor(options: LocalEngineOptions) {
    this.#options = options;
  }

  async probe({ signal }: CallOptions = {}): Promise<EngineProbe> {
    try {
      const { version, capabilities, tools } = await this.#open(signal);
      const setup = await localSetup(tools.bwrap);
      return { available: true, version, capabilities, components: localComponents(version), setup };
    } catch (error) {
      if (!(error instanceof GloveboxError) || error.errorType !== "ENGINE_UNAVAILABLE") throw error;
      return { available: false, reason: error.message, howToStart: error.suggestion };
    }
  }

  async capabilities({ signal }: CallOptions = {}): Promise<Capabilities> {
    return (await this.#open(signal)).capabilities;
  }

  async create(spec: ContainerSpec, { signal }: CallOptions = {}): Promise<Container> {
    throwIfCancelled(signal);
    checkContainerSpec(spec);
    parseProcessUser(spec.processUser);
    if (this.#entries.has(spec.name) || this.#reserved.has(spec.name)) throw nameTaken(spec.name);
    this.#reserved.add(spec.name);
    try {
      const host = await this.#open(signal);
      const container = await this.#make(host, spec, signal);
      const { labels } = spec;
      this.#entries.set(spec.name, { container, labels, createdAtMs: this.#options.now() });
      return container;
    } finally {
      this.#reserved.delete(spec.name);
    }
  }

  async list(
    labels: Readonly<Record<string, string>>,
    { signal }: CallOptions = {},
  ): Promise<readonly ContainerSummary[]> {
    throwIfCancelled(signal);
    const wanted = Object.entries(labels);
    return [...this.#entries]
      .filter(([, entry]) => wanted.every(([label, value]) => entry.labels[label] === value))
      .map(([name, { container, labels: own, createdAtMs }]) => ({
        id: container.id,
        name,
        labels: own,
        running: container.isRunning,
        createdAtMs,
        remove: (options) => container.remove(options),
      }));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#entries.values()].map(({ container }) => container.remove()));
    const host = this.#host;
    this.#host = undefined;
    await host?.then(
      (opened) => opened.close(),
      () => {
        // It was never opened.
      },
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #open(signal: AbortSignal | undefined): Promise<LocalHost> {
    throwIfCancelled(signal);
    if (this.#host === undefined) {
      // Shared by all callers, so one caller's cancellation must not end it; a failure is tried again.
      const opening = this.#openAndTry();
      this.#host = opening;
      opening.catch(() => {
        if (this.#host === opening) this.#host = undefined;
      });
    }
    return untilCancelled(this.#host, signal);
  }

  /** Nothing short of a run tells whether this host lets us run. */
  async #openAndTry(): Promise<LocalHost> {
    const host = await openLocalHost(this.#options);
    const failure = await runTrial((spec) => this.#make(host, spec, undefined));
    if (failure === null) {
      void host.cgroups.sweep();
      return host;
    }
    // Groups may be there and yet not be ours to join.
    const without = withoutGroups(host);
    const second = await runTrial((spec) => this.#make(without, spec, undefined));
    if (second === null) return without;
    host.close();
    throw explainFailure(second);
  }

  async #make(host: LocalHost, spec: ContainerSpec, signal: AbortSignal | undefined): Promise<LocalContainer> {
    const hostUid = this.#options.uid === 0 ? this.#takeHostUid() : null;
    let group: ContainerGroup | undefined;
    try {
      group = host.cgroups.create(spec.name, spec.limits);
      const mountDescriptor = await openContainerNamespace({
        tools: host.tools,
        base: host.base,
        sharedMemoryBytes: sharedMemoryBytes(spec),
        scratch: spec.scratch,
        mounts: spec.mounts ?? [],
        hostUid,
        signal,
      });
      const onRemoved = (): void => {
        this.#entries.delete(spec.name);
        if (hostUid !== null) this.#hostUids.delete(hostUid);
      };
      return new LocalContainer({ spec, host, group, mountDescriptor, hostUid, onRemoved });
    } catch (error) {
      if (hostUid !== null) this.#hostUids.delete(hostUid);
      await group?.remove();
      throw error instanceof GloveboxError ? error : lostError(error);
    }
  }

  #takeHostUid(): number {
    for (;;) {
      const uid = this.#options.randomInteger(hostUids.minimum, hostUids.maximum);
      if (this.#hostUids.has(uid)) continue;
      this.#hostUids.add(uid);
      return uid;
    }
  }
}

function withoutGroups(host: LocalHost): LocalHost {
  const { countsProcessesByNamespace } = host;
  const capabilities = localCapabilities({ controllers: new Set(), countsProcessesByNamespace });
  return { ...host, cgroups: Cgroups.none(), capabilities };
}
