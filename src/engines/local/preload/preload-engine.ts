import { throwIfCancelled, untilCancelled } from "../../../base/abort.ts";
import { GloveboxError } from "../../../errors/glovebox-error.ts";
import type { Capabilities } from "../../capabilities.ts";
import type { ContainerSpec } from "../../container-spec.ts";
import type { CallOptions, Container, ContainerSummary, Engine, EngineProbe, ImageStore } from "../../engine.ts";
import { hostUids } from "../host-uids.ts";
import type { LocalEngineOptions } from "../local-engine-options.ts";
import { checkContainerSpec, parseProcessUser } from "../local-spec.ts";
import { readOwner } from "../owner-process.ts";
import { nameTaken } from "../name-taken.ts";
import { onlyTheHost } from "../only-the-host.ts";
import { makeContainerFolder } from "./folders/container-folder.ts";
import { guardCommand } from "./guards/guard-command.ts";
import type { ArrangeProgram } from "./guards/host-program.ts";
import { PreloadContainer } from "./preload-container.ts";
import { openPreloadHost, type PreloadHost } from "./preload-host.ts";
import { folderPrefix, sweepFolders } from "./folders/sweep-folders.ts";
import { toolCommand } from "./guards/tool-command.ts";

export interface PreloadEngineOptions extends LocalEngineOptions {
  /** Why this level and none better, one sentence for the warning in every result. */
  readonly reason: string;
  /** What would give a better one, one sentence. */
  readonly fix?: string | undefined;
  /** Whether the tools that install packages run too, with no guard: for installers and nobody else. Default false. */
  readonly installs?: boolean | undefined;
  /** For tests: how programs are started. Default: guarded, and no other. */
  readonly arrange?: ArrangeProgram | undefined;
}

/**
 * The embedded engine (SPEC RT5) at level `preload`, for hosts without namespaces: programs of the host, guarded from
 * inside their own interpreter. It stops mistakes and simple mischief, not an attacker.
 */
export function createPreloadEngine(options: PreloadEngineOptions): Engine {
  return new PreloadEngine(options);
}

interface Entry {
  readonly container: PreloadContainer;
  readonly labels: Readonly<Record<string, string>>;
  readonly createdAtMs: number;
}

class PreloadEngine implements Engine {
  readonly name = "local";
  readonly images: ImageStore = onlyTheHost(async ({ signal }) => {
    const { interpreters, installers } = await this.#open(signal);
    return [interpreters.python, interpreters.node?.executable, installers.bun];
  });
  readonly #options: PreloadEngineOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #reserved = new Set<string>();
  #host: Promise<PreloadHost> | undefined;

  constructor(options: PreloadEngineOptions) {
    this.#options = options;
  }

  async probe({ signal }: CallOptions = {}): Promise<EngineProbe> {
    try {
      const { version, capabilities, interpreters } = await this.#open(signal);
      const components = interpreters.node === null ? [] : [{ name: "Node", version: interpreters.node.version }];
      return { available: true, version, capabilities, components, setup: { guardsInterpreters: true } };
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
      const container = await this.#make(host, spec);
      if (signal?.aborted) await container.remove();
      throwIfCancelled(signal);
      this.#entries.set(spec.name, { container, labels: spec.labels, createdAtMs: this.#options.now() });
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
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #open(signal: AbortSignal | undefined): Promise<PreloadHost> {
    throwIfCancelled(signal);
    if (this.#host === undefined) {
      // Shared by all callers, so one caller's cancellation must not end it; a failure is tried again.
      const opening = this.#openAndSweep();
      this.#host = opening;
      opening.catch(() => {
        if (this.#host === opening) this.#host = undefined;
      });
    }
    return untilCancelled(this.#host, signal);
  }

  async #openAndSweep(): Promise<PreloadHost> {
    const host = await openPreloadHost(this.#options, this.#options);
    const { processId, uid, platform } = this.#options;
    if (processId !== undefined) await sweepFolders(host.baseFolder, readOwner(processId), { uid, platform });
    return host;
  }

  async #make(host: PreloadHost, spec: ContainerSpec): Promise<PreloadContainer> {
    const { randomInteger, processId, installs, arrange, uid, platform } = this.#options;
    const guarded = guardCommand(host.interpreters);
    const hostUid = host.changesUser ? randomInteger(hostUids.minimum, hostUids.maximum) : null;
    const folder = await makeContainerFolder({
      base: host.baseFolder,
      prefix: folderPrefix(processId === undefined ? null : readOwner(processId)),
      owner: { uid, platform },
      scratch: spec.scratch,
      copies: spec.mounts ?? [],
      guards: host.guards,
      hostUid,
    });
    return new PreloadContainer({
      spec,
      host,
      folder,
      hostUid,
      arrange: arrange ?? (installs ? toolCommand(host.installers, guarded) : guarded),
      onRemoved: () => this.#entries.delete(spec.name),
    });
  }
}
